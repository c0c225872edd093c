package table

// macros are functions for SQL that views.sql defines, for statements about
// replications beyond those of summary and comparisons:
//
//	t975(n)          97.5 % quantile of Student's t with n - 1 degrees of freedom
//	ci_lo(x)         lower end of the 95 % t interval of the mean of x
//	ci_hi(x)         upper end
//	ratio_lo(a, b)   lower end of Fieller's 95 % interval of avg(a) / avg(b), of pairs
//	ratio_hi(a, b)   upper end
//
//	zipf_shares(n, a)   shares of n items by Zipf's law, a list
//	che_hit_rate(p, c)  hit rate of a cache of c items under LRU, by Che's approximation
//
// The four in the middle are aggregates: one x, or one pair, a row. They are NULL with
// one row, and the ratio's also where the data do not bound it. Beyond 31 rows
// the quantile is the expansion of Abramowitz and Stegun 26.7.5, right to 1e-6.
// Fieller's ends are those of stages/stats, with k = t^2 / (n avg(b)^2):
//
//	(r - k cov -+ sqrt(k (va - 2 r cov + r^2 vb - k (va vb - cov^2)))) / (1 - k vb)
//
// and Che's approximation is that of sim/lru, in 60 of Newton's steps.
const macros = `
CREATE OR REPLACE MACRO t975(n) AS CASE WHEN n < 2 THEN NULL
  WHEN n <= 31 THEN [12.706204736, 4.302652730, 3.182446305, 2.776445105, 2.570581836, 2.446911851, 2.364624252, 2.306004135, 2.262157163, 2.228138852,
    2.200985160, 2.178812830, 2.160368656, 2.144786688, 2.131449546, 2.119905299, 2.109815578, 2.100922040, 2.093024054, 2.085963447,
    2.079613845, 2.073873068, 2.068657610, 2.063898562, 2.059538553, 2.055529439, 2.051830516, 2.048407142, 2.045229642, 2.042272456][CAST(n AS INTEGER) - 1]
  ELSE 1.959963985 + 2.372271230 / (n - 1) + 2.822498616 / (n - 1) ** 2 + 2.555849680 / (n - 1) ** 3 END;
CREATE OR REPLACE MACRO ci_lo(x) AS avg(x) - t975(count(x)) * stddev_samp(x) / sqrt(count(x));
CREATE OR REPLACE MACRO ci_hi(x) AS avg(x) + t975(count(x)) * stddev_samp(x) / sqrt(count(x));
CREATE OR REPLACE MACRO n_pairs(a, b) AS CAST(regr_count(a, b) AS DOUBLE);
CREATE OR REPLACE MACRO fieller_k(a, b) AS t975(n_pairs(a, b)) ** 2 / (n_pairs(a, b) * regr_avgx(a, b) ** 2);
CREATE OR REPLACE MACRO fieller_va(a, b) AS regr_syy(a, b) / (n_pairs(a, b) - 1);
CREATE OR REPLACE MACRO fieller_vb(a, b) AS regr_sxx(a, b) / (n_pairs(a, b) - 1);
CREATE OR REPLACE MACRO fieller_root(a, b) AS sqrt(greatest(0, fieller_k(a, b) * (fieller_va(a, b)
  - 2 * regr_avgy(a, b) / regr_avgx(a, b) * covar_samp(a, b) + (regr_avgy(a, b) / regr_avgx(a, b)) ** 2 * fieller_vb(a, b)
  - fieller_k(a, b) * (fieller_va(a, b) * fieller_vb(a, b) - covar_samp(a, b) ** 2))));
CREATE OR REPLACE MACRO ratio_lo(a, b) AS CASE WHEN n_pairs(a, b) < 2 OR NOT fieller_k(a, b) * fieller_vb(a, b) < 1 THEN NULL
  ELSE (regr_avgy(a, b) / regr_avgx(a, b) - fieller_k(a, b) * covar_samp(a, b) - fieller_root(a, b)) / (1 - fieller_k(a, b) * fieller_vb(a, b)) END;
CREATE OR REPLACE MACRO ratio_hi(a, b) AS CASE WHEN n_pairs(a, b) < 2 OR NOT fieller_k(a, b) * fieller_vb(a, b) < 1 THEN NULL
  ELSE (regr_avgy(a, b) / regr_avgx(a, b) - fieller_k(a, b) * covar_samp(a, b) + fieller_root(a, b)) / (1 - fieller_k(a, b) * fieller_vb(a, b)) END;
CREATE OR REPLACE MACRO zipf_shares(n, a) AS (SELECT list(k ** -a / total ORDER BY k)
  FROM (SELECT k, sum(k ** -a) OVER () AS total FROM range(1, CAST(n AS BIGINT) + 1) AS r(k)));
CREATE OR REPLACE MACRO che_hit_rate(p, c) AS (WITH
  cache AS MATERIALIZED (SELECT p AS shares, CAST(c AS DOUBLE) AS room),
  lasting AS MATERIALIZED (SELECT shares, room, list_reduce(list_transform(range(61), lambda step: 0.0::DOUBLE), lambda t, step:
    t + (room - list_sum(list_transform(shares, lambda x: 1 - exp(-x * t)))) / list_sum(list_transform(shares, lambda x: x * exp(-x * t)))) AS span FROM cache)
  SELECT CASE WHEN room >= len(shares) THEN 1 ELSE list_sum(list_transform(shares, lambda x: x * (1 - exp(-x * span)))) END FROM lasting);
`
