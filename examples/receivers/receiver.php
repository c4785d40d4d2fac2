<?php
// A receiver of deliveries in PHP 8, without any package. Run: SIGNING_SECRET=whsec_… php -S 127.0.0.1:3000 receiver.php

function verified(string $body, string $header, string $secret): bool
{
    if (!preg_match('/(?:^|,)t=(\d{1,12})(?:,|$)/', $header, $found)) return false;
    $t = $found[1];
    if (abs(time() - (int) $t) > 300) return false;
    $expected = hash_hmac('sha256', "$t.$body", $secret);
    foreach (explode(',', $header) as $part) {
        if (str_starts_with($part, 'v1=') && hash_equals($expected, substr($part, 3))) return true;
    }
    return false;
}

$secret = (string) getenv('SIGNING_SECRET');
if ($secret === '') {
    error_log('Set SIGNING_SECRET: without it, anybody could sign.');
    http_response_code(500);
    exit;
}
$body = file_get_contents('php://input'); // The raw bytes: verify before parsing.
if (!verified($body, $_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? '', $secret)) {
    http_response_code(401);
    exit;
}
$message = json_decode($body, true, 1024, JSON_BIGINT_AS_STRING);
// A batch has its deliveries in `events`, each as it would be alone.
foreach ($message['type'] === 'events.received' ? $message['events'] : [$message] as $delivery) {
    if ($delivery['type'] !== 'event.received') continue;
    // The same $delivery['id'] may be delivered again: keep the ids you have had, in a unique column of your database.
    error_log("event {$delivery['data']['id']} of {$delivery['source']['name']}");
}
http_response_code(204);
