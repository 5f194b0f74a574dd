-- ARGV: job, task, attempt, busy_s, state, figures for `outcomes`, amounts for `counts`, then fields and values. This step alone publishes the job's result.
local job, name, attempt, busy_s, state, figures, totals = unpack(ARGV, 1, 7)
if get(job, 'completed_by') == attempt then return 1 end
if not holds(job, name, attempt) then return 0 end
finish_task(job, name, busy_s)
set(job, 'completed_by', attempt)
for name, amount in pairs(cjson.decode(totals)) do count(amount, name, get(job, 'tier')) end
note_outcome(job, true, '', figures)
end_job(job, state, unpack(ARGV, 8))
return 1
