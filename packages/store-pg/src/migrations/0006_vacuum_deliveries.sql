-- Each settled delivery leaves a dead entry at the front of the index of what is due, which every claim passes over until
-- the table is vacuumed. By PostgreSQL's own measure that is once a fifth of the table is dead: of three months of
-- deliveries, far too late.

ALTER TABLE cabinet.delivery SET (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 10000);
