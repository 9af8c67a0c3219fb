"""The queries, in SQL that all contestants understand, with {table} where each puts its own way to read a table.

TPC-H 1, 6 and 12 with the specification's validation parameters; dates are computed beforehand, since not every dialect has
intervals.
"""

import re

Q1 = """SELECT l_returnflag, l_linestatus, sum(l_quantity) AS sum_qty, sum(l_extendedprice) AS sum_base_price,
 sum(l_extendedprice * (1 - l_discount)) AS sum_disc_price,
 sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS sum_charge,
 avg(l_quantity) AS avg_qty, avg(l_extendedprice) AS avg_price, avg(l_discount) AS avg_disc, count(*) AS count_order
FROM {lineitem} AS l WHERE l_shipdate <= DATE '1998-09-02'
GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus"""

Q6 = """SELECT sum(l_extendedprice * l_discount) AS revenue FROM {lineitem} AS l
WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01'
 AND l_discount >= 0.05 AND l_discount <= 0.07 AND l_quantity < 24"""

Q12 = """SELECT l_shipmode,
 sum(CASE WHEN o_orderpriority = '1-URGENT' OR o_orderpriority = '2-HIGH' THEN 1 ELSE 0 END) AS high_line_count,
 sum(CASE WHEN o_orderpriority <> '1-URGENT' AND o_orderpriority <> '2-HIGH' THEN 1 ELSE 0 END) AS low_line_count
FROM {orders} AS o JOIN {lineitem} AS l ON o.o_orderkey = l.l_orderkey
WHERE l_shipmode IN ('MAIL', 'SHIP') AND l_commitdate < l_receiptdate AND l_shipdate < l_commitdate
 AND l_receiptdate >= DATE '1994-01-01' AND l_receiptdate < DATE '1995-01-01'
GROUP BY l_shipmode ORDER BY l_shipmode"""

COUNT = "SELECT count(*) AS n FROM {lineitem} AS l"

# With deletion vectors: all columns (rows are counted, not compared), and what costs least a row.
STAR = "SELECT * FROM {lineitem} AS l"
SUM = "SELECT sum(l_suppkey) AS s FROM {lineitem} AS l"

READS = {"q1": Q1, "q6": Q6, "q12": Q12, "count": COUNT}
TABLES = ("lineitem", "orders")
TPCH_TABLES = ("lineitem", "orders", "part", "supplier", "partsupp", "customer", "nation", "region")

# Where a query of TPC-H names a table: after FROM, JOIN or a comma between tables. `nation` is a column's name in two of them.
TABLE_NAME = re.compile(r"(\bFROM\s+|\bJOIN\s+|,\s*)(" + "|".join(TPCH_TABLES) + r")\b(?!\s*[.=])", re.IGNORECASE)


def with_places(text):
    """A query of TPC-H as DuckDB's extension has it, with {table} for its tables."""
    return TABLE_NAME.sub(r"\1{\2}", text).strip().rstrip(";")


def fill(query, ways):
    """The query with {table} replaced; ways: name of a table to SQL."""
    for name, way in ways.items():
        query = query.replace("{" + name + "}", way)
    return query
