//! The macro that turns the cases into tests of a backend.

/// Runs the whole suite over a backend: one test per case, named after it.
///
/// The argument is a path to an `async fn() -> (Arc<dyn Store>, Guard)`, called once per case. The guard is anything
/// that must live as long as the store (a temporary directory); where there is none, use `()`. It is dropped after the
/// store.
///
/// The crate that calls it needs `tokio` with `macros` and `rt-multi-thread` among its dev-dependencies. What follows the
/// path is handed to `tokio::test` in place of two threads, as for a store on paused time.
///
/// ```text
/// async fn make() -> (Arc<dyn Store>, tempfile::TempDir) { .. }
/// store::conformance_suite!(make);
/// ```
#[macro_export]
macro_rules! conformance_suite {
    ($make:expr) => {
        $crate::conformance_suite!($make, flavor = "multi_thread", worker_threads = 2);
    };
    ($make:expr, $($runtime:tt)+) => {
        $crate::conformance_suite! {
            @tests ($make; $($runtime)+)
            tables {
                a_table_is_made,
                making_a_table_again_keeps_its_rows,
                tables_are_listed_in_order,
                a_table_is_dropped_once,
                dropping_what_was_never_made_changes_nothing,
                a_table_that_was_never_made_refuses_everything,
                a_dropped_table_refuses_everything,
                a_table_made_again_is_empty,
                tables_are_independent,
                incarnations_are_independent,
                one_of_many_creators_makes_the_table,
                a_healthy_store_is_ready,
                a_disk_is_used_in_part,
            }
            wishes {
                a_table_is_kept_in_every_way,
                every_consistency_reads_what_it_wrote,
                a_hedged_scan_reads_the_same,
            }
            batches {
                an_acknowledged_batch_is_read_whole,
                both_durabilities_are_read_at_once,
                an_empty_batch_leaves_no_trace,
                rows_of_a_batch_come_in_any_order,
                duplicate_rows_in_a_batch_are_merged,
                items_of_one_event_stay_together,
                values_are_any_bytes,
                metadata_is_kept_apart_from_the_value,
                the_largest_row_is_kept,
                a_batch_may_have_many_rows,
                partitions_of_one_table_are_independent,
            }
            keys {
                event_ids_are_ordered_by_their_bytes,
                item_keys_are_ordered_by_their_bytes,
                event_ids_go_before_item_keys,
                the_longest_ids_are_kept_whole,
                the_first_and_last_times_are_kept,
                series_ids_are_told_apart,
                the_longest_series_ids_are_told_apart,
                buckets_are_told_apart,
                neighbouring_partitions_end_where_they_end,
            }
            limits {
                a_batch_with_too_many_rows_is_refused_whole,
                a_batch_with_too_many_bytes_is_refused_whole,
                a_row_with_too_large_a_column_is_refused,
                a_scan_over_the_limits_is_refused,
                an_enumeration_over_the_limits_is_refused,
                a_metadata_value_over_the_limit_is_refused,
                a_metadata_key_over_the_limits_is_refused,
                the_longest_metadata_names_are_told_apart,
                a_metadata_range_over_the_limits_is_refused,
            }
            overwrite {
                the_later_write_stays,
                a_later_write_replaces_every_column,
                write_times_are_compared_as_numbers,
                equal_times_keep_the_greater_value,
                equal_times_decide_each_column_by_itself,
                equal_times_prefer_anything_to_nothing,
                writing_the_same_again_changes_nothing,
                an_overwritten_row_counts_once,
                neighbours_of_an_overwritten_row_stay,
                many_overwrites_leave_one_row,
            }
            scan {
                both_orders_read_the_same_rows,
                headers_are_the_same_rows_without_values,
                rows_without_an_item_key_are_read_like_all,
                an_unwritten_partition_is_empty,
                intervals_hold_their_start_and_not_their_end,
                intervals_may_reach_beyond_all_times,
                an_empty_interval_reads_nothing,
                scans_begin_at_or_behind_any_place,
                the_beginning_and_the_interval_both_hold,
                later_rows_are_read_in_their_place,
            }
            scan_paging {
                pages_of_every_size_give_every_row_once,
                pages_of_every_weight_give_every_row_once,
                pages_may_cut_through_an_event,
                a_page_is_as_full_as_asked,
                a_page_ends_when_its_bytes_are_reached,
                a_row_larger_than_the_limit_still_comes,
                a_scan_behind_the_last_row_ends,
                a_scan_goes_on_while_rows_are_written,
                a_large_partition_is_read_page_by_page,
            }
            concurrency {
                concurrent_writers_lose_nothing,
                concurrent_overwrites_leave_the_latest,
                a_reader_never_sees_a_part_of_a_batch,
                concurrent_readers_read_the_same,
                an_acknowledged_write_is_read_at_once,
                tables_are_made_and_filled_at_once,
            }
            delete {
                a_deleted_partition_is_empty,
                neighbours_of_a_deleted_partition_stay,
                a_deletion_stays_in_its_table,
                deleting_again_changes_nothing,
                deleting_what_was_never_written_succeeds,
                a_large_partition_is_deleted_whole,
                every_consistency_deletes,
                sizes_are_honest_after_a_deletion,
                deletions_and_writes_do_not_disturb_each_other,
            }
            enumerate {
                pages_of_any_size_list_every_partition_once,
                the_order_is_always_the_same,
                a_place_can_be_used_again,
                a_place_outlives_writes,
                a_partition_with_many_rows_is_listed_once,
                an_overwritten_partition_is_listed_once,
                a_new_partition_is_listed_at_once,
                nothing_is_listed_after_a_drop,
                a_place_needs_no_partition,
            }
            histogram {
                an_empty_table_has_no_sizes,
                known_partitions_are_measured_exactly,
                measuring_again_after_writes_is_right,
                a_cheap_histogram_is_honest_after_writes,
                measuring_changes_nothing,
                tables_are_measured_apart,
                many_partitions_are_all_counted,
            }
            meta {
                a_record_is_created_and_read,
                a_second_creation_shows_the_record,
                an_update_needs_the_version,
                an_update_of_nothing_is_a_conflict,
                a_removed_record_is_gone,
                versions_rise_with_every_change,
                a_value_is_any_bytes,
                groups_are_separate,
                concurrent_increments_add_up,
                one_of_many_creators_wins,
            }
            meta_range {
                a_range_has_every_record_in_order,
                ranges_are_read_page_by_page,
                a_range_goes_on_behind_any_name,
                a_range_stays_in_its_group,
                a_range_over_nothing_is_empty,
                a_range_shows_what_is_there_now,
                a_range_of_large_records_is_cut_by_bytes,
            }
            random {
                random_operations_agree_with_the_reference,
            }
        }
    };
    (@tests $make:tt $($topic:ident { $($case:ident,)+ })+) => {
        $($($crate::conformance_suite! { @test $make $topic $case })+)+
    };
    (@test ($make:expr; $($runtime:tt)+) $topic:ident $case:ident) => {
        #[tokio::test($($runtime)+)]
        async fn $case() {
            let (store, _guard) = $make().await;
            $crate::conformance::$topic::$case($crate::conformance::Fixture::new(store)).await;
        }
    };
}

#[cfg(test)]
mod tests {
    const TOPICS: [(&str, &str); 15] = [
        ("tables", include_str!("tables.rs")),
        ("wishes", include_str!("wishes.rs")),
        ("batches", include_str!("batches.rs")),
        ("keys", include_str!("keys.rs")),
        ("limits", include_str!("limits.rs")),
        ("overwrite", include_str!("overwrite.rs")),
        ("scan", include_str!("scan.rs")),
        ("scan_paging", include_str!("scan_paging.rs")),
        ("concurrency", include_str!("concurrency.rs")),
        ("delete", include_str!("delete.rs")),
        ("enumerate", include_str!("enumerate.rs")),
        ("histogram", include_str!("histogram.rs")),
        ("meta", include_str!("meta.rs")),
        ("meta_range", include_str!("meta_range.rs")),
        ("random", include_str!("random.rs")),
    ];

    #[test]
    fn every_case_is_listed_under_its_topic() {
        let suite = include_str!("suite.rs");
        for (topic, source) in TOPICS {
            let listed = suite.split(&format!("            {topic} {{\n")).nth(1).unwrap();
            let listed: Vec<&str> = listed.lines().map(|line| line.trim().trim_end_matches(',')).collect();
            let listed = listed.split(|line| *line == "}").next().unwrap();
            let cases = source.lines().filter_map(|line| line.strip_prefix("pub async fn "));
            let cases: Vec<&str> = cases.filter_map(|line| line.split('(').next()).collect();
            assert_eq!(listed, cases, "{topic}");
        }
    }
}
