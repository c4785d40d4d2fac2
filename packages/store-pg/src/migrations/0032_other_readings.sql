-- Which values of a request were read in another charset than the rest. Null for nearly all requests.

ALTER TABLE cabinet.original_request ADD COLUMN other_readings json;
