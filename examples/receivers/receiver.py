# A receiver of deliveries in Python 3, without any package. Run: SIGNING_SECRET=whsec_… PORT=3000 python3 receiver.py
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ.get("SIGNING_SECRET", "").encode()
if not SECRET:
    raise SystemExit("Set SIGNING_SECRET: without it, anybody could sign.")
MAX_BODY = 8 << 20
seen = set()  # In production: a unique column in your database.


def verified(body: bytes, header: str) -> bool:
    parts = [part.partition("=") for part in header.split(",")]
    t = next((value for name, _, value in parts if name == "t"), "")
    if not (t.isascii() and t.isdigit() and len(t) <= 12) or abs(time.time() - int(t)) > 300:
        return False
    expected = hmac.new(SECRET, t.encode() + b"." + body, hashlib.sha256).hexdigest()
    return any(name == "v1" and hmac.compare_digest(value.encode(), expected.encode()) for name, _, value in parts)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit() and len(length) <= 12) or int(length) > MAX_BODY:
            self.send_error(413 if length.isdigit() else 411)
            return
        body = self.rfile.read(int(length))  # The raw bytes: verify before parsing.
        good = verified(body, self.headers.get("X-Service-Signature", ""))
        if good:
            message = json.loads(body)
            # A batch has its deliveries in `events`, each as it would be alone.
            for delivery in message["events"] if message["type"] == "events.received" else [message]:
                if delivery["type"] == "event.received" and delivery["id"] not in seen:
                    seen.add(delivery["id"])  # The same id may be delivered again.
                    print(f"event {delivery['data']['id']} of {delivery['source']['name']}", flush=True)
        self.send_response(204 if good else 401)
        self.end_headers()

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", 3000))), Receiver)
print("ready", flush=True)
server.serve_forever()
