-- ARGV: job, task, attempt, channel, models. Gives 1 if the try counts.
local job, name, attempt, channel, models = unpack(ARGV)
if not holds(job, name, attempt) then return 0 end
set(job, 'channel', channel, 'models', models)
return 1
