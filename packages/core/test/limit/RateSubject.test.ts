import { rateSubject } from "@data-cabinet/core/limit/RateSubject"
import { assert, it } from "vitest"

it.each([
  ["203.0.113.9", "ip:203.0.113.9"],
  ["::ffff:203.0.113.9", "ip:203.0.113.9"],
  ["2001:db8:0:1:aaaa::1", "ip:2001:db8:0:1::/64"],
  ["2001:0DB8::1", "ip:2001:db8:0:0::/64"],
  ["2001:db8:0:1:ffff:ffff:ffff:ffff", "ip:2001:db8:0:1::/64"],
  ["::1", "ip:0:0:0:0::/64"],
  ["fe80::1%eth0", "ip:fe80:0:0:0::/64"],
  ["::ffff:203.0.113.99%eth0", "ip:203.0.113.99"],
  ["64::ffff:203.0.113.9", "ip:64:0:0:0::/64"],
  ["1::2:3:4:5:6:7", "ip:1:0:2:3::/64"],
  ["::1:2:3:4:5:6:7", "ip:0:1:2:3::/64"],
  ["2001:db8::", "ip:2001:db8:0:0::/64"],
  ["1:2:3:4:5:6:7:8", "ip:1:2:3:4::/64"],
])("rateSubject counts %s as %s", (ip, subject) => {
  assert.strictEqual(rateSubject(ip), subject)
})
