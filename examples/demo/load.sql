-- 250,000 rentals of a quarter, always the same ones: every value comes from the hash of the rental's number
INSERT INTO rentals
SELECT
    id,
    started_at,
    minutes,
    ['Oslo', 'Bergen', 'Paris', 'Lyon', 'Berlin', 'Porto', 'Turin', 'Ghent'][1 + CAST(sqrt(h % 64) AS INT) % 8] AS city,
    format('bike-{:04d}', h // 64 % 2000) AS bike,
    h // 7 % 3 > 0 AS member,
    CAST(CASE WHEN h // 7 % 3 > 0 THEN 0.10 ELSE 0.25 END * minutes + 1 AS DECIMAL(8,2)) AS fare,
    strftime(started_at, '%Y-%m') AS month
FROM (
    SELECT
        id,
        h,
        CAST(TIMESTAMP '2026-01-01' + INTERVAL (:quarter - 1) QUARTER
             + INTERVAL (h // 1024 % (90 * 86400)) SECOND AS TIMESTAMP) AS started_at,
        CAST(3 + h // 4096 % 40 + CASE WHEN h // 7 % 3 = 0 THEN h % 17 ELSE 0 END AS INT) AS minutes
    FROM (
        SELECT (:quarter - 1) * 250000 + i AS id, hash((:quarter - 1) * 250000 + i) AS h FROM range(250000) t(i)
    )
);
