-- ARGV: job, task, attempt, busy_s, state, then fields and values. This step alone publishes the job's result.
local job, name, attempt, busy_s, state = unpack(ARGV, 1, 5)
if get(job, 'completed_by') == attempt then return 1 end
if not holds(job, name, attempt) then return 0 end
finish_task(job, name, busy_s)
set(job, 'completed_by', attempt)
end_job(job, state, unpack(ARGV, 6))
return 1
