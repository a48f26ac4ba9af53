"""A client that shares nothing with this project: Python's gRPC, with what the server's reflection says and no other file.

    cargo xtask foreign target/debug/braid

Starts the binary on an empty directory, finds the contract by reflection, makes a namespace, writes, reads, pages and
streams, looks at an error as a program would, and sends the request bodies that were published for this API as JSON.
"""

import base64
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

import grpc
from google.protobuf import descriptor_pool, message_factory
from google.protobuf.json_format import MessageToDict, ParseDict
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase


class Server:
    """The binary, on a free port."""

    def __init__(self, binary, directory):
        command = [os.path.abspath(binary), "serve", "--listen", "127.0.0.1:0", "--data", f"{directory}/data"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=directory)
        said = ""
        for line in self.process.stderr:
            said += line
            found = re.search(r"http://([0-9.]+:[0-9]+)", line)
            if found:
                self.address = found[1]
                return
        raise SystemExit(f"the server did not start: {said}")

    def stop(self):
        self.process.terminate()
        self.process.stderr.read()
        assert self.process.wait() == 0, "a stop is not a failure"


class Reflected:
    """Calls by name, with messages made from what the server told."""

    def __init__(self, address):
        self.channel = grpc.insecure_channel(address)
        self.database = ProtoReflectionDescriptorDatabase(self.channel)
        self.pool = descriptor_pool.DescriptorPool(self.database)

    def call(self, path, body):
        service, name = path.split("/")
        method = self.pool.FindServiceByName(service).FindMethodByName(name)
        request = ParseDict(body, message_factory.GetMessageClass(method.input_type)())
        kind = self.channel.unary_stream if method.server_streaming else self.channel.unary_unary
        answer = message_factory.GetMessageClass(method.output_type)
        made = kind(
            f"/{path}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=answer.FromString,
        )
        show = lambda message: MessageToDict(message, preserving_proto_field_name=True)
        result = made(request, timeout=30)
        return [show(page) for page in result] if method.server_streaming else show(result)


def by_json(address, path, body):
    """What curl does."""
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(f"http://{address}/{path}", json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refusal:
        return refusal.code, json.load(refusal)


DATA = "braid.v1.TimeSeriesService"
ADMIN = "braid.admin.v1.NamespaceService"
INTERVAL = {"start": "2026-05-11T23:42:51.484398Z", "end": "2026-05-12T00:13:50.694205Z"}


def event(number):
    value = base64.b64encode(f"value {number}".encode()).decode()
    return {
        "time_series_id": "profileId:123",
        "event_time": f"2026-05-12T00:00:{number:02}.000000{number:03}Z",
        "event_id": f"event-{number}",
        "event_items": [{"event_item_key": "title", "event_item_value": value}],
    }


def through_grpc(address):
    client = Reflected(address)
    services = set(client.database.get_services())
    assert {DATA, ADMIN, "braid.admin.v1.OpsService", "grpc.health.v1.Health"} <= services, services
    health = client.call("grpc.health.v1.Health/Check", {"service": DATA})
    assert health == {"status": "SERVING"}, health
    namespace = {"name": "foreign", "accept_limit": "0s", "retention": {"close_after": "0s", "delete_after": "0s"}}
    made = client.call(f"{ADMIN}/CreateNamespace", {"namespace": namespace})
    assert made["shape"]["seconds_per_slice"] == 86400, made

    events = [event(number) for number in range(1, 31)]
    written = client.call(f"{DATA}/WriteEventRecordsSync", {"namespace": "foreign", "events": events})
    assert written["accepted"] == 30 and "results" not in written, written

    read = {"namespace": "foreign", "time_series_id": "profileId:123", "time_interval": INTERVAL, "page_size": 7}
    paged, token = [], ""
    while True:
        page = client.call(f"{DATA}/ReadEventRecords", {**read, "page_token": token})
        paged += page["records"]
        token = page.get("next_page_token", "")
        if not token:
            break
    assert paged == events[::-1], "newest first, every event once, as it was written"
    streamed = client.call(f"{DATA}/StreamEventRecords", {**read, "order": "OLDEST_FIRST"})
    assert [record for page in streamed for record in page.get("records", [])] == events
    assert len(streamed) >= 5, "in pages"

    try:
        client.call(f"{DATA}/ReadEventRecords", {**read, "namespace": "nowhere"})
        raise SystemExit("a namespace that does not exist was read")
    except grpc.RpcError as error:
        assert error.code() == grpc.StatusCode.NOT_FOUND, error
        details = dict(error.trailing_metadata())["grpc-status-details-bin"]
        assert b"NAMESPACE_NOT_FOUND" in details and b"braid" in details, details
    print(f"foreign: gRPC by reflection: {len(events)} events written, read in pages and streamed")


def published(address):
    """The bodies as they were published, in both spellings."""
    write = {
        "namespace": "foreign",
        "events": [
            {
                "timeSeriesId": "profileId:100",
                "eventTime": "2026-05-12T00:01:00.123Z",
                "eventId": "550e8400-e29b-41d4-a716-446655440000",
                "eventItems": [
                    {"eventItemKey": "deviceType", "eventItemValue": "aW9z"},
                    {"eventItemKey": "deviceMetadata", "eventItemValue": "c29tZSBtZXRhZGF0YQ=="},
                ],
            }
        ],
    }
    for method in ["WriteEventRecordsSync", "WriteEventRecords"]:
        status, answer = by_json(address, f"{DATA}/{method}", write)
        assert (status, answer["accepted"]) == (200, 1), answer
    read = {
        "namespace": "foreign",
        "timeSeriesId": "profileId:100",
        "timeInterval": INTERVAL,
        "eventFilters": [{"matchEventItemKey": "deviceType", "matchEventItemValue": "aW9z"}],
        "pageSize": 100,
        "totalRecordLimit": 1000,
    }
    status, answer = by_json(address, f"{DATA}/ReadEventRecords", read)
    assert status == 200 and len(answer["records"]) == 1, answer
    assert answer["response_context"][0]["namespace"] == "foreign", answer
    assert re.fullmatch(r"[0-9.]+s", answer["response_context"][0]["time_taken"]), answer
    mixed = {"namespace": "foreign", "time_series_id": "profileId:123", "time_interval": INTERVAL, "pageSize": 1000}
    status, answer = by_json(address, f"{DATA}/ReadEventRecords", mixed)
    assert status == 200 and len(answer["records"]) == 30, answer
    status, refusal = by_json(address, f"{DATA}/ReadEventRecords", {**mixed, "page_sized": 1})
    assert status == 400 and "page_sized" in refusal["message"] and refusal["code"] == "invalid_argument", refusal
    print("foreign: the published request bodies are answered as JSON")


def main():
    with tempfile.TemporaryDirectory() as directory:
        server = Server(sys.argv[1], directory)
        try:
            through_grpc(server.address)
            published(server.address)
        finally:
            server.stop()


main()
