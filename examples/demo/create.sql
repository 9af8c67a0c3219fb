CREATE TABLE rentals (
    id BIGINT NOT NULL,
    started_at TIMESTAMP NOT NULL,
    minutes INT,
    city STRING,
    bike STRING,
    member BOOLEAN,
    fare DECIMAL(8,2),
    month STRING COMMENT 'of started_at'
)
USING delta
PARTITIONED BY (month)
COMMENT 'made by the demo';
