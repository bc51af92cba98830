/** Exact sliding-window logs shared by many processes. All times are by the server's clock. */
import { Effect } from "effect"
import { Redis } from "effect/persistence"
import { SecretSource } from "../../domain/randomText.ts"
import { inTime, Valkey, type ValkeyUnavailable } from "./Valkey.ts"

/** One log, its limit, and how many units to charge. */
export interface LogRequest {
  /** Key of the log. In a Valkey cluster, all logs of a request need the same hash tag, such as `{key_a}`. */
  readonly log: string
  readonly limit: number
  readonly windowMs: number
  readonly cost: number
}

/** State of one log. */
export interface LogState {
  /** Units that can still be charged now. */
  readonly remaining: number
  /** Milliseconds until the oldest counted unit leaves the window; 0 when nothing is counted. */
  readonly resetInMs: number
  /** Milliseconds until the cost fits, or a whole window if it never fits; 0 when the charge was admitted. */
  readonly fitsInMs: number
}

/** The outcome of a charge. Either every log is charged or none is. */
export interface LogDecision {
  readonly isAdmitted: boolean
  /** Number that identifies the charge. */
  readonly seq: number
  /** In the order of the request. */
  readonly states: ReadonlyArray<LogState>
}

type Operation = "admit" | "refund" | "peek"

/**
 * A log is a sorted set. Each member is a charge with its number and cost; its score is the time in microseconds. The
 * sum of the costs is kept beside it. A charge leaves after the window, in logarithmic time, and the keys expire with
 * the last charge. When the server's clock is set back, charges that are now in the future count from the present, so
 * no window ever holds more than the limit.
 */
export const LOGS_LUA = `
local op, seq = ARGV[1], ARGV[2]
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local text = function(x) return string.format('%.0f', x) end
local costOf = function(member) return tonumber(string.match(member, ':(%d+)$')) end
local states, fitsAll = {}, true
for i = 1, #KEYS / 2 do
  local log, sumKey = KEYS[i * 2 - 1], KEYS[i * 2]
  local window, limit, cost = ARGV[i * 3] * 1000, tonumber(ARGV[i * 3 + 1]), tonumber(ARGV[i * 3 + 2])
  local sum = tonumber(redis.call('GET', sumKey) or '-1')
  if redis.call('ZCARD', log) == 0 then
    sum = 0
  elseif sum < 0 then
    sum = 0
    for _, member in ipairs(redis.call('ZRANGE', log, 0, -1)) do sum = sum + costOf(member) end
  end
  local before, changed = sum, false
  if redis.call('ZCOUNT', log, '(' .. text(now), '+inf') > 0 then
    for _, member in ipairs(redis.call('ZRANGEBYSCORE', log, '(' .. text(now), '+inf')) do redis.call('ZADD', log, text(now), member) end
    changed = true
  end
  local gone = redis.call('ZRANGEBYSCORE', log, '-inf', text(now - window))
  for _, member in ipairs(gone) do sum = sum - costOf(member) end
  if #gone > 0 then redis.call('ZREMRANGEBYSCORE', log, '-inf', text(now - window)) end
  if op == 'refund' and redis.call('ZREM', log, seq .. ':' .. text(cost)) == 1 then sum = sum - cost end
  local fits = 0
  if op == 'admit' and sum + cost > limit then
    fitsAll, fits = false, window
    local missing, from = sum + cost - limit, 0
    while cost <= limit and missing > 0 do
      local page = redis.call('ZRANGE', log, from, from + 99, 'WITHSCORES')
      for j = 1, #page, 2 do
        missing = missing - costOf(page[j])
        if missing <= 0 then fits = page[j + 1] + window - now break end
      end
      from = from + 100
    end
  end
  states[i] = { log, sumKey, window, limit, cost, sum, fits, changed or sum ~= before }
end
local answer = { fitsAll and 1 or 0 }
for i = 1, #states do
  local log, sumKey, window, limit, cost, sum, fits, changed = unpack(states[i])
  if op == 'admit' and fitsAll and cost > 0 then
    redis.call('ZADD', log, text(now), seq .. ':' .. text(cost))
    sum, changed = sum + cost, true
  end
  if sum == 0 then
    redis.call('DEL', sumKey)
  elseif changed then
    local life = text(math.ceil(window / 1000) + 1)
    redis.call('SET', sumKey, text(sum), 'PX', life)
    redis.call('PEXPIRE', log, life)
  end
  local oldest = redis.call('ZRANGE', log, 0, 0, 'WITHSCORES')
  answer[#answer + 1] = math.max(0, limit - sum)
  answer[#answer + 1] = oldest[2] and oldest[2] + window - now or 0
  answer[#answer + 1] = fits
end
return answer`

const script = Redis.script(
  (operation: Operation, seq: number, requests: ReadonlyArray<LogRequest>) => [
    ...requests.flatMap(({ log }) => [log, `${log}:sum`]),
    operation,
    seq,
    ...requests.flatMap(({ cost, limit, windowMs }) => [windowMs, limit, cost])
  ],
  { numberOfKeys: (_operation, _seq, requests) => 2 * requests.length, lua: LOGS_LUA }
).withReturnType<ReadonlyArray<number>>()

const STATE_FIELDS = 3
const SEQUENCES = 2 ** 48

const statesOf = (answer: ReadonlyArray<number>): ReadonlyArray<LogState> =>
  Array.from({ length: (answer.length - 1) / STATE_FIELDS }, (_, i) => {
    const [remaining = 0, resetInUs = 0, fitsInUs = 0] = answer.slice(1 + i * STATE_FIELDS)
    return { remaining, resetInMs: resetInUs / 1000, fitsInMs: fitsInUs / 1000 }
  })

/**
 * A charge that was decided after its caller had given up. When its answer arrives, `stands` says whether the charge
 * is kept or refunded.
 */
export interface LateCharge {
  readonly stands: () => boolean
}

const undone: LateCharge = { stands: () => false }

/**
 * Operations on shared logs. Each is one script. It waits for its answer until the server counts as away. A charge
 * that is decided later than that is refunded, unless it stands.
 */
export const sharedLogs = Effect.gen(function* () {
  const valkey = yield* Valkey
  const run = valkey.eval(script)
  // Charges are numbered from a random start in each process, so that no two charges of a log have the same number.
  const random = yield* SecretSource
  let lastSeq = random(6).reduce((value, byte) => value * 256 + byte, 0)
  const nextSeq = () => {
    lastSeq = (lastSeq + 1) % SEQUENCES
    return lastSeq
  }

  /** Charges every log or none. A cost of 0 leaves no trace. */
  const admit = (
    requests: ReadonlyArray<LogRequest>,
    late: LateCharge = undone
  ): Effect.Effect<LogDecision, ValkeyUnavailable> =>
    Effect.suspend(() => {
      const seq = nextSeq()
      const undo = ([isAdmitted]: ReadonlyArray<number>) =>
        isAdmitted === 1 && !late.stands() ? run("refund", seq, requests) : Effect.void
      return Effect.map(inTime(valkey, run("admit", seq, requests), undo), (answer) => ({
        isAdmitted: answer[0] === 1,
        seq,
        states: statesOf(answer)
      }))
    })

  /** Refunds a charge. Does nothing if the charge was refunded already or has left the window. */
  const refund = (seq: number, ...requests: ReadonlyArray<LogRequest>) =>
    Effect.map(inTime(valkey, run("refund", seq, requests)), statesOf)

  /** Reads the states and charges nothing. */
  const peek = (...requests: ReadonlyArray<LogRequest>) =>
    Effect.map(inTime(valkey, run("peek", 0, requests)), statesOf)

  return { admit, refund, peek }
})
