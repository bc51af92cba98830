/**
 * Walks the contract on a service of several processes: it gives every answer that one process gives. `npm run
 * cluster:walk`, which needs valkey-server or redis-server.
 */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { type Difference, differences } from "../../scripts/chaos/repair/answers.ts"
import { judge, operations, walk } from "../api/walking.ts"
import { valid, waysTo } from "../api/walkTable.ts"
import type { Request, Way } from "../api/walkRequests.ts"
import { ReceivedCall } from "../api/walkWorlds.ts"
import type { Answered, Operation } from "../support/openapi.ts"
import { isAvailable } from "../support/valkey.ts"
import { stateTests } from "./sharedState.ts"
import { layer as bothWorlds, type Walked, Worlds } from "./worlds.ts"

/** Streams and downloads have tests of their own, because their content depends on the time. */
const isRead = ({ id, method }: Operation) => method === "GET" && !/stream|Streams|session$/u.test(id)

/** Ids, secrets and times, which differ from answer to answer. */
const masked = (text: string): string =>
  text
    .replaceAll(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/gu, "(uuid)")
    .replaceAll(/\b(?:al|ev|grp|key|tkt|acc|ses)_[0-9A-Za-z]{6,}/gu, "(id)")
    .replaceAll(/\bfth_[0-9A-Za-z_]+/gu, "(secret)")
    .replaceAll(/(?<=:)1[78]\d{11}(?=[,}\]])/gu, "0")
    .replaceAll(/"[0-9a-f]{64}"/gu, '"(hash)"')

const contentOf = ({ headers, text }: Answered): unknown =>
  (headers.get("content-type") ?? "").startsWith("application/json") && text !== "" ? JSON.parse(masked(text)) : null

/**
 * Members that depend on the process or the request. Each process counts holders for the tokens that it was asked
 * about.
 */
const OWN =
  /\/(?:wsUrl|streamId|lastFour|prefix|ageMs|stateAgeMs|stateSlot|contextSlot|ingestLagMs|engineTimeMs|remaining|retryAfterMs)$|^\/data\/\d+\/holders\//u

/** Answers about the process itself: checked, but not compared. */
const OF_PROCESS: ReadonlySet<string> = new Set([
  "system.freshness",
  "system.rootFreshness",
  "system.ready",
  "account.usage"
])

const compared = ({ id }: Operation, what: string, expected: Answered, found: Answered): ReadonlyArray<Difference> => {
  const question = `${id} ${what}`
  if (expected.status !== found.status) {
    return [{ question, at: "status", expected: expected.status, found: `${found.status} ${found.text.slice(0, 300)}` }]
  }
  return OF_PROCESS.has(id)
    ? []
    : differences(question, contentOf(expected), contentOf(found)).filter((difference) => !OWN.test(difference.at))
}

const over = (world: Walked) =>
  Effect.provideService(ReceivedCall, { url: world.url, secretOf: world.secretOf, offer: world.offer })

const requestOf = ({ id }: Operation, status: number, way: Way, { offer }: Walked): Request =>
  status === 200 && way.world === "simulated" ? (valid[id]?.(offer) ?? way.request) : way.request

const arrive = (operation: Operation, way: Way, request: Request) =>
  walk(operation, way, request).pipe(Effect.tap((answer) => Effect.sync(() => judge(operation, answer))))

/** The answers of two processes, repeated while either is still loading what was requested. */
const arriveAtBoth = (operation: Operation, [one, other]: readonly [Walked, Walked], what: string, way: Way) =>
  Effect.gen(function* () {
    const status = Number(what) || 200
    const [expected, found] = [
      yield* over(one)(arrive(operation, way, requestOf(operation, status, way, one))),
      yield* over(other)(arrive(operation, way, requestOf(operation, status, way, other)))
    ]
    return compared(operation, what, expected, found)
  })

/** Reads again until nothing differs, for as long as a process needs to load. The data itself does not change. */
const settled = <E>(reading: Effect.Effect<ReadonlyArray<Difference>, E, Worlds>, isRepeatable: boolean) =>
  Effect.repeat(reading, {
    until: (found) => !isRepeatable || found.length === 0,
    times: 80,
    schedule: Schedule.spaced("250 millis")
  })

const ways = (operation: Operation) =>
  Array.from(waysTo(operation)).filter(
    ([, { staleCursorAfter, world }]) => (world === "simulated" || world === "bare") && staleCursorAfter === undefined
  )

describe.runIf(isAvailable)("a service of several processes", () => {
  layer(bothWorlds, { excludeTestServices: true, timeout: "20 minutes" })("on a chain that stands still", (it) => {
    for (const operation of operations) {
      it.effect(`${operation.id} answers like one process`, () =>
        Effect.gen(function* () {
          const { alone, cluster, parts } = yield* Worlds
          for (const [status, way] of ways(operation)) {
            // The balancer rejects bytes that are not a request, so a process gets them directly.
            const direct = { ...cluster, url: parts.find(({ role }) => role === "api")?.baseUrl ?? "" }
            const both = [alone, way.raw === undefined ? cluster : direct] as const
            const isRepeatable = operation.method === "GET" && way.world === "simulated"
            const reading = arriveAtBoth(operation, both, String(status), way)
            assert.deepStrictEqual(yield* settled(reading, isRepeatable), [])
          }
        })
      )
    }

    for (const operation of operations.filter(isRead)) {
      it.effect(`every role answers ${operation.id}`, () =>
        Effect.gen(function* () {
          const { alone, cluster, parts } = yield* Worlds
          const way = waysTo(operation).get(200)
          for (const { baseUrl, role } of way?.world === "simulated" ? parts : []) {
            const both = [alone, { ...cluster, url: baseUrl }] as const
            const reading = arriveAtBoth(operation, both, `at ${role}`, way ?? { world: "simulated", request: {} })
            assert.deepStrictEqual(yield* settled(reading, true), [])
          }
        })
      )
    }

    stateTests(it)
  })
})
