-- Addresses are added one after another, so that no source gets more than it may have.

INSERT INTO cabinet.job_lock (name) VALUES ('addresses');
