//! A number that is not known yet: three figures, and the distribution that they mean.

/// What a number may turn out to be. In half of all worlds it is under `mid`, in one of twenty under `low`, in one of
/// twenty over `high`, and never under half of `low` or over twice `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Guess {
    /// Hardly less.
    pub low: f64,
    /// As likely more as less.
    pub mid: f64,
    /// Hardly more.
    pub high: f64,
}

/// The share of worlds under `high`.
const HIGH_SHARE: f64 = 0.95;

impl Guess {
    /// A number that is known.
    pub const fn exactly(value: f64) -> Self {
        Self { low: value, mid: value, high: value }
    }

    /// The value that a share `u` of all worlds is under, 0 < u < 1. Two halves of a logistic distribution meet at `mid`,
    /// over the logarithm where the guess allows it: what is uncertain by a factor is so in both directions.
    pub(crate) fn at(self, u: f64) -> f64 {
        let steps = logit(u) / logit(HIGH_SHARE);
        let end = if steps < 0.0 { self.low } else { self.high };
        let value = if self.low > 0.0 {
            self.mid * (end / self.mid).powf(steps.abs())
        } else {
            self.mid + (end - self.mid) * steps.abs()
        };
        value.clamp(self.low / 2.0, self.high * 2.0)
    }
}

fn logit(u: f64) -> f64 {
    (u / (1.0 - u)).ln()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn near(found: f64, expect: f64) {
        assert!((found - expect).abs() <= expect.abs() * 1e-9 + 1e-12, "{found} is not {expect}");
    }

    #[test]
    fn the_three_figures_are_where_they_are_said_to_be() {
        for guess in [
            Guess { low: 1_000.0, mid: 10_000.0, high: 1e6 },
            Guess { low: 0.0, mid: 1.0, high: 3.0 },
            Guess { low: 7.0, mid: 7.0, high: 9.0 },
        ] {
            near(guess.at(0.5), guess.mid);
            near(guess.at(0.05), guess.low);
            near(guess.at(0.95), guess.high);
            near(guess.at(1.0 - 1e-12), guess.high * 2.0);
        }
        near(Guess { low: 1_000.0, mid: 10_000.0, high: 1e6 }.at(1e-12), 500.0);
        near(Guess { low: 0.0, mid: 1.0, high: 3.0 }.at(1e-12), 0.0);
    }

    proptest! {
        #[test]
        fn it_grows_and_stays_inside(
            low in 0.0_f64..1e3, more in 0.0_f64..1e3, most in 0.0_f64..1e6, u in 1e-6_f64..0.999, step in 0.0_f64..1e-3,
        ) {
            let guess = Guess { low, mid: low + more, high: low + more + most };
            let (here, there) = (guess.at(u), guess.at(u + step));
            prop_assert!(here <= there * (1.0 + 1e-9), "{here} > {there}");
            prop_assert!(here >= low / 2.0 && there <= guess.high * 2.0);
        }

        #[test]
        fn what_is_known_is_the_same_in_every_world(value in 1e-6_f64..1e9, u in 1e-6_f64..0.999_999) {
            prop_assert!((Guess::exactly(value).at(u) - value).abs() <= value * 1e-9);
        }
    }
}
