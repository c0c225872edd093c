-- Ten questions to an experiment's tables; all of them fit the experiment
-- quickstart and any other with table requests kept or sampled.
--
--   switchyard query out/quickstart "QUERY"                       one of them
--   cd out/quickstart && duckdb -init views.sql < ../../notebooks/queries.sql

-- 1. Mean latency of every router at every load, with its interval
select workload_point, cluster_point, router_point,
       round(mean / 1e6, 3) as e2e_s, round(lo / 1e6, 3) as lo_s, round(hi / 1e6, 3) as hi_s, n, saturated
from summary
where metric = 'e2e_mean_us'
order by config;

-- 2. Who is better than the baseline beyond chance, and by what factor
select workload_point, router_point, baseline, round(ratio, 3) as ratio,
       round(ratio_lo, 3) as lo, round(ratio_hi, 3) as hi, round(p_holm, 4) as p_holm
from comparisons
where metric = 'e2e_mean_us' and not saturated and not baseline_saturated and p_holm < 0.05
order by workload_point, cluster_point, ratio;

-- 3. The highest rate that each router carries without saturating
select cluster_point, router_point, max(rate_rps) filter (where not saturated) as carries_rps,
       min(rate_rps) filter (where saturated) as saturated_at_rps
from summary
where metric = 'throughput_rps'
group by all
order by carries_rps desc nulls last, router_point;

-- 4. Where prompt tokens went: hits, and what routing and eviction lost of the ceiling
select workload_point, router_point, round(avg(prefix_hit_rate), 3) as hit, round(avg(lost_to_routing), 3) as to_routing,
       round(avg(lost_in_flight), 3) as of_it_in_flight, round(avg(lost_to_eviction), 3) as to_eviction,
       round(avg(hit_ceiling), 3) as ceiling
from cells
group by config, workload_point, router_point
order by config;

-- 5. The best router at each load by 99th percentile of time to first token
select workload_point, cluster_point, arg_min(router_point, mean) as router, round(min(mean) / 1e6, 3) as ttft_p99_s
from summary
where metric = 'ttft_p99_us' and not saturated
group by all
order by min(config);

-- 6. Goodput: requests within the objective a second, beside all that arrive
select workload_point, router_point, round(avg(goodput_rps), 2) as goodput_rps, round(avg(arrival_rps), 2) as arrival_rps,
       round(avg(slo_attainment), 3) as attainment
from cells
group by config, workload_point, router_point
order by config;

-- 7. How loaded the cluster is, and how uneven its replicas: the most against the mean of the tokens computed
select c.workload_point, c.router_point, round(avg(c.offered_load), 3) as offered_load,
       round(max(r.computed_tokens) / avg(r.computed_tokens), 3) as busiest_over_mean,
       round(avg(c.load_imbalance), 3) as load_imbalance, round(avg(c.duplication), 2) as duplication
from cells c join replicas r using (cell)
group by c.config, c.workload_point, c.router_point
order by c.config;

-- 8. What a cached prompt is worth: latency by the share found in the cache
select c.router_point, floor(4 * r.cached_tokens / r.prompt_tokens) / 4 as cached_share_from, count(*) as requests,
       round(quantile_cont(r.ttft_us, 0.5) / 1e3, 1) as ttft_p50_ms, round(quantile_cont(r.ttft_us, 0.99) / 1e3, 1) as ttft_p99_ms
from requests r join cells c using (cell)
where r.in_window and r.status = 'finished' and not c.saturated
group by all
order by all;

-- 9. What the workloads are made of, and what came of it: variant and replication are the key of both tables
select p.workload_point, p.rate_rps, round(avg(p.prompt_mean_tokens)) as prompt, round(avg(p.output_mean_tokens)) as output,
       round(avg(p.shared_share_mean), 3) as shared, round(avg(p.key_share_mean), 3) as key_portion,
       round(max(c.hit_ceiling), 3) as hit_ceiling, round(max(c.prefix_hit_rate), 3) as best_hit_rate
from profile p join cells c using (variant, replication)
group by all
order by all;

-- 10. Statistical doubts, most frequent first
select warning, count(*) as rows, count(distinct config) as configurations
from (select config, unnest(warnings) as warning from summary)
group by all
order by rows desc, warning
limit 20;
