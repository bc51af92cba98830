/** Logs of a bus, stored as streams in Valkey or Redis 7. */
import { Clock, Effect } from "effect"
import { AppendRefused, type BusLog, type BusUnavailable, type LogBounds, type LogEntry } from "../bus/busLog.ts"
import { bufferOf, makeConnection, type Send } from "./busConnection.ts"

/** A reader gets an answer within this many milliseconds. The answer is empty when there is no new entry. */
const BLOCK_MS = 1000
/** Entries per read. */
const PAGE = 16

/**
 * Appends an entry. A set holds the places in the stream with their bytes and their times by the server's clock. Each
 * append removes at most 16 old entries. All keys expire when no entry arrives for as long as entries are kept. The
 * sum of the bytes is stored together with the place it was computed at. If the newest entry has another place, a
 * process of an older version without this sum has appended, and the sum is computed again.
 */
const APPEND_LUA = `
local stream, places, sum = KEYS[1], KEYS[2], KEYS[3]
local bytesOf = function(member) return tonumber(string.match(member, ':(%d+):')) or 0 end
local after, kept, most = tonumber(ARGV[1]), tonumber(ARGV[3]), tonumber(ARGV[5])
local newest = redis.call('ZREVRANGE', places, 0, 0)[1]
if newest then
  newest = tonumber(string.match(newest, '^%d+'))
  if newest > after then return newest end
end
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local held = 0
if most > 0 and newest then
  local counted = redis.call('GET', sum) or ''
  held = tonumber(string.match(counted, '^(%d+)@' .. string.format('%.0f', newest) .. '$'))
  if not held then
    held = 0
    for _, member in ipairs(redis.call('ZRANGE', places, 0, -1)) do held = held + bytesOf(member) end
  end
end
redis.call('XADD', stream, ARGV[2] .. '-0', 'a', ARGV[1], 'b', ARGV[4])
redis.call('ZADD', places, ARGV[2], ARGV[2] .. ':' .. #ARGV[4] .. ':' .. string.format('%.0f', now))
held = held + #ARGV[4]
local oldest, old = redis.call('ZRANGE', places, 0, 16), 0
for i = 1, #oldest - 1 do
  if tonumber(string.match(oldest[i], '%d+$')) >= now - kept and (most == 0 or held <= most) then break end
  old, held = i, held - bytesOf(oldest[i])
end
if old > 0 then
  redis.call('ZREMRANGEBYRANK', places, 0, old - 1)
  redis.call('XTRIM', stream, 'MINID', string.match(oldest[old + 1], '^%d+') .. '-0')
end
if most > 0 then redis.call('SET', sum, string.format('%.0f', held) .. '@' .. ARGV[2]) end
if kept > 0 then
  for i = 1, 3 do redis.call('PEXPIRE', KEYS[i], kept) end
end
return -1`

type Reply = ReadonlyArray<
  readonly [stream: Buffer, entries: ReadonlyArray<readonly [id: Buffer, fields: ReadonlyArray<Buffer>]>]
>

/** The entries in a reply to `XREAD`; empty after a timeout. */
const entriesOf = (reply: unknown): ReadonlyArray<LogEntry> =>
  ((reply as Reply | null)?.[0]?.[1] ?? []).map(([id, fields]) => ({
    place: Number(id.toString("latin1").split("-")[0]),
    after: Number(fields[1]?.toString("latin1")),
    body: fields[3] ?? Buffer.alloc(0)
  }))

/** Settings of the logs of one bus. */
interface LogSettings extends LogBounds {
  readonly url: string
  /** Prefix of the keys. */
  readonly kind: string
  /** How the log names the bus. */
  readonly title: string
}

/** The key of a log. Its other keys start with it, so that they all live in one slot of a Valkey cluster. */
export const keyOf = (kind: string, name: string): string => `fathom:{${kind}:${name}}`

/** The logs on the server at this address, with these commands. The start does not wait for the server. */
export const makeValkeyLog = Effect.fnUntraced(function* (
  { keptMs, kind, mostBytes = 0, title, url }: LogSettings,
  send: Send
) {
  const clock = yield* Clock.Clock
  const state: { heardAtMs: number | null; isReported: boolean } = { heardAtMs: null, isReported: false }

  const heard = <A>(answer: A): A => {
    state.heardAtMs = clock.currentTimeMillisUnsafe()
    return answer
  }
  const reportLoss = ({ cause }: BusUnavailable) =>
    Effect.suspend(() => {
      const isFirst = !state.isReported
      state.isReported = true
      return isFirst ? Effect.logWarning(`The ${title} cannot be reached`, cause) : Effect.void
    })
  const reportReturn = Effect.suspend(() => {
    const wasReported = state.isReported
    state.isReported = false
    return wasReported ? Effect.logInfo(`The ${title} can be reached again`) : Effect.void
  })
  const streamOf = (name: string) => keyOf(kind, name)
  const placesOf = (name: string) => `${keyOf(kind, name)}:slots`

  const log: BusLog = {
    newest: Effect.fnUntraced(function* (name) {
      const [member] = heard(yield* send("ZREVRANGE", placesOf(name), "0", "0")) as ReadonlyArray<Buffer>
      return member === undefined ? null : Number(member.toString("latin1").split(":")[0])
    }),
    append: Effect.fnUntraced(function* (name, { after, body, place }) {
      const keys = [streamOf(name), placesOf(name), `${keyOf(kind, name)}:bytes`]
      const values = [`${after}`, `${place}`, `${keptMs}`, bufferOf(body), `${mostBytes}`]
      const answer = Number(heard(yield* send("EVAL", APPEND_LUA, "3", ...keys, ...values)))
      if (answer !== -1) {
        return yield* new AppendRefused({ newest: answer })
      }
    }),
    reader: Effect.map(
      makeConnection(url),
      (read) => (name, after) =>
        read("XREAD", "COUNT", `${PAGE}`, "BLOCK", `${BLOCK_MS}`, "STREAMS", streamOf(name), `${after}-0`).pipe(
          Effect.tapError(reportLoss),
          Effect.tap(reportReturn),
          Effect.map((reply) => {
            const entries = entriesOf(heard(reply))
            return { entries, hasMore: entries.length === PAGE }
          })
        )
    ),
    heardAtMs: () => state.heardAtMs
  }
  return log
})
