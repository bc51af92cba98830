import { assert, layer } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { AlertStore } from "../../src/alerts/AlertStore.ts"
import { type AlertPlace, type AlertStep, NO_TRADES, type Slice } from "../../src/api/schemas/Alert.ts"
import { mintOf } from "../market/tape/tape.ts"
import { at } from "../support/clock.ts"
import { alertOf, START } from "./alerts.ts"

const DAY_MS = 86_400_000
const now = at(START + 1000)

const ALL = { status: null, mint: null, limit: 100, after: null }
const EVERY = { alertId: null, sinceMs: null, limit: 100, after: null }

const fires = (id: string, version = 1, value = "10.5"): AlertStep => ({
  id,
  version,
  watch: { armed: false, cleared: false, mark: 77 },
  firing: { value, observedAtMs: START + 500 }
})

/** Ids of every page to the end, with this many rows per page. */
const walk = Effect.fnUntraced(function* <Row, E, R>(
  read: (after: AlertPlace | null) => Effect.Effect<Slice<Row>, E, R>,
  idOf: (row: Row) => string
) {
  const pages: Array<ReadonlyArray<string>> = []
  let after: AlertPlace | null = null
  do {
    const slice: Slice<Row> = yield* read(after)
    pages.push(slice.rows.map(idOf))
    after = slice.next
  } while (after !== null)
  return pages
})

/** Contract of every alert store. Each test has an account of its own. */
export const alertStoreContract = <E>(name: string, store: Layer.Layer<AlertStore, E>) =>
  layer(store, { timeout: "1 minute", excludeTestServices: true })(name, (it) => {
    it.effect("returns an alert exactly as created, and only to its owner", () =>
      Effect.gen(function* () {
        const alerts = yield* AlertStore
        const wanted = alertOf("al_exact", {
          accountId: "exact",
          mint: mintOf(7),
          condition: {
            metric: "change_pct",
            operator: "falls_by",
            threshold: "0.000000000000000000000000000001",
            windowSeconds: 21_600,
            source: "median"
          },
          recurrence: "repeat",
          cooldownSeconds: 86_400,
          expiresAtMs: START + 90 * DAY_MS,
          note: "two\nlines, 'quotes', a \\ backslash and 🦦",
          armed: false,
          mark: 2 ** 52 + 1
        })
        const made = yield* alerts.create(wanted)
        assert.deepStrictEqual(made, {
          ...wanted,
          status: "active",
          updatedAtMs: START,
          lastTriggeredAtMs: null,
          triggerCount: 0,
          tally: NO_TRADES,
          version: 1
        })
        assert.deepStrictEqual(yield* alerts.find("exact", "al_exact"), made)
        assert.deepStrictEqual((yield* alerts.page("exact", ALL)).rows, [made])
        assert.deepStrictEqual(yield* alerts.load(["al_exact", "al_none"]), [made])
        assert.isNull(yield* alerts.find("other", "al_exact"))
        assert.isNull(yield* alerts.find("exact", "no id at all \u0000"))
        assert.deepStrictEqual((yield* alerts.page("other", ALL)).rows, [])
      }).pipe(now)
    )

    it.effect("keeps the changes of authorities between sightings of all processes, in the order of slots", () =>
      Effect.gen(function* () {
        const alerts = yield* AlertStore
        const seen = (slot: number, mintAuthority: string | null, freezeAuthority: string | null, timeMs: number) =>
          alerts.noteAuthorities([{ mint: mintOf(8), slot, mintAuthority, freezeAuthority }]).pipe(at(timeMs))
        const changes = Effect.map(alerts.authorityChanges, (all) => all.get(mintOf(8)))
        yield* alerts.noteAuthorities([])
        yield* seen(10, "a", "b", START)
        assert.isUndefined(yield* changes)
        yield* seen(30, null, "c", START + 1000)
        yield* seen(20, "a", "b", START + 2000)
        yield* seen(31, null, "c", START + 3000)
        assert.deepStrictEqual(yield* changes, [START + 1000, START + 1000])
        yield* seen(40, "d", "c", START + DAY_MS)
        assert.deepStrictEqual(yield* changes, [START + 1000, START + 1000, START + DAY_MS])
        yield* seen(50, "e", "c", START + DAY_MS + 2000)
        assert.deepStrictEqual(yield* changes, [START + DAY_MS, START + DAY_MS + 2000])
        // Not seen for more than a day: changes since then are unknown.
        yield* seen(60, "f", "c", START + 3 * DAY_MS)
        assert.isUndefined(yield* changes)
        yield* seen(61, "g", "c", START + 3 * DAY_MS + 1)
        yield* alerts.forgetAuthorities
        yield* seen(5, "h", "c", START + 3 * DAY_MS + 2)
        assert.isUndefined(yield* changes)
      })
    )

    it.effect("pages newest first without skipping or repeating equal times", () =>
      Effect.gen(function* () {
        const alerts = yield* AlertStore
        const ids = ["al_p1", "al_p2", "al_p3", "al_p4", "al_p5"]
        yield* Effect.forEach(ids, (id, i) =>
          alerts.create(alertOf(id, { accountId: "paged", createdAtMs: START + Math.floor(i / 2) }))
        )
        const pages = yield* walk(
          (after) => alerts.page("paged", { ...ALL, limit: 2, after }),
          ({ id }) => id
        )
        assert.deepStrictEqual(pages, [["al_p5", "al_p4"], ["al_p3", "al_p2"], ["al_p1"]])
      }).pipe(now)
    )

    it.effect("selects by status and by token, and shows an expiry the moment it comes", () =>
      Effect.gen(function* () {
        const alerts = yield* AlertStore
        const of = (id: string, other = {}) => alerts.create(alertOf(id, { accountId: "chosen", ...other }))
        yield* of("al_ends", { expiresAtMs: START + 5000 })
        yield* of("al_stays", { mint: mintOf(2) })
        const ids = (
          status: "active" | "paused" | "expired" | null,
          mint: ReturnType<typeof mintOf> | null,
          atMs: number
        ) =>
          Effect.map(alerts.page("chosen", { ...ALL, status, mint }).pipe(at(atMs)), ({ rows }) =>
            rows.map(({ id, status: is }) => `${id} ${is}`)
          )
        assert.deepStrictEqual(yield* ids("active", null, START + 4999), ["al_stays active", "al_ends active"])
        assert.deepStrictEqual(yield* ids("active", null, START + 5000), ["al_stays active"])
        assert.deepStrictEqual(yield* ids("expired", null, START + 5000), ["al_ends expired"])
        assert.deepStrictEqual(yield* ids(null, mintOf(2), START + 5000), ["al_stays active"])
        assert.deepStrictEqual(yield* ids("paused", null, START), [])
      }).pipe(now)
    )

    it.effect("holds at most a hundred live alerts for an account, however many come at once", () =>
      Effect.gen(function* () {
        const alerts = yield* AlertStore
        const create = (i: number) => alerts.create(alertOf(`al_many_${i}`, { accountId: "many" }))
        const made = yield* Effect.forEach(
          Array.from({ length: 110 }, (_, i) => i),
          (i) => Effect.exit(create(i)),
          { concurrency: 20 }
        )
        assert.strictEqual(made.filter(({ _tag }) => _tag === "Success").length, 100)
        assert.strictEqual((yield* Effect.flip(create(200)))._tag, "TooManyAlerts")
        yield* alerts.create(alertOf("al_elsewhere", { accountId: "many2" }))
        const [first] = (yield* alerts.page("many", ALL)).rows
        yield* alerts.advance([fires(first?.id ?? "")])
        yield* create(201)
        assert.strictEqual((yield* Effect.flip(create(202)))._tag, "TooManyAlerts")
      }).pipe(now)
    )

    it.effect("changes only what is decided, and nothing when the change is refused", () =>
      Effect.gen(function* () {
        const alerts = yield* AlertStore
        const made = yield* alerts.create(alertOf("al_change", { accountId: "changes", note: "old" }))
        const change = {
          condition: { ...made.condition, threshold: "12.5" },
          recurrence: "repeat" as const,
          cooldownSeconds: 60,
          expiresAtMs: START + DAY_MS,
          status: "paused" as const,
          armed: false
        }
        const changed = yield* alerts.change("changes", made.id, () => Effect.succeed(change)).pipe(at(START + 9))
        assert.deepStrictEqual(changed, { ...made, ...change, updatedAtMs: START + 9, version: 2 })
        assert.deepStrictEqual(yield* alerts.find("changes", made.id), changed)
        assert.strictEqual(yield* Effect.flip(alerts.change("changes", made.id, () => Effect.fail("no"))), "no")
        const endless = yield* alerts.change("changes", made.id, () =>
          Effect.succeed({ expiresAtMs: null, note: null })
        )
        assert.deepInclude(endless, { expiresAtMs: null, note: null, status: "paused", version: 3 })
        assert.isNull(
          yield* alerts.change("others", made.id, () => Effect.die("an alert of another account was changed"))
        )
      }).pipe(now)
    )

    it.effect("deletes an alert, repeatably, and only for its owner", () =>
      Effect.gen(function* () {
        const alerts = yield* AlertStore
        yield* alerts.create(alertOf("al_gone", { accountId: "removes" }))
        assert.isFalse(yield* alerts.remove("others", "al_gone"))
        assert.isTrue(yield* alerts.remove("removes", "al_gone"))
        assert.isTrue(yield* alerts.remove("removes", "al_gone"))
        assert.isFalse(yield* alerts.remove("removes", "al_never"))
        assert.isNull(yield* alerts.find("removes", "al_gone"))
        assert.isNull(yield* alerts.change("removes", "al_gone", () => Effect.succeed({ note: "x" })))
        assert.deepStrictEqual(yield* alerts.load(["al_gone"]), [])
        assert.deepStrictEqual(yield* alerts.advance([fires("al_gone")]), [])
        assert.deepStrictEqual((yield* alerts.events("removes", EVERY)).rows, [])
      }).pipe(now)
    )

    it.effect("fires once per version, and ends an alert with recurrence `once`", () =>
      Effect.gen(function* () {
        const alerts = yield* AlertStore
        const made = yield* alerts.create(alertOf("al_once", { accountId: "fires" }))
        const told = yield* Effect.forEach([1, 2, 3], () => alerts.advance([fires("al_once")]), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(told.flat(), [
          {
            ...made,
            armed: false,
            cleared: false,
            mark: 77,
            status: "triggered",
            updatedAtMs: START + 1000,
            lastTriggeredAtMs: START + 1000,
            triggerCount: 1,
            version: 2
          }
        ])
        assert.deepStrictEqual(yield* alerts.advance([fires("al_once", 2)]), [])
        assert.deepStrictEqual((yield* alerts.events("fires", EVERY)).rows, [
          {
            eventId: "evt_once_1",
            alertId: "al_once",
            mint: mintOf(1),
            condition: made.condition,
            value: "10.5",
            observedAtMs: START + 500,
            firedAtMs: START + 1000,
            trade: null
          }
        ])
      }).pipe(now)
    )

    it.effect("takes a repeating alert from firing to firing, and leaves paused and expired alerts alone", () =>
      Effect.gen(function* () {
        const alerts = yield* AlertStore
        const repeat = { accountId: "repeats", recurrence: "repeat" as const, cooldownSeconds: 60 }
        yield* alerts.create(alertOf("al_again", repeat))
        yield* alerts.create(alertOf("al_paused", repeat))
        yield* alerts.create(alertOf("al_over", { ...repeat, expiresAtMs: START + 500 }))
        yield* alerts.change("repeats", "al_paused", () => Effect.succeed({ status: "paused" }))
        const stepped = yield* alerts.advance([fires("al_again"), fires("al_paused", 2), fires("al_over")])
        assert.deepStrictEqual(
          stepped.map(({ id, status }) => `${id} ${status}`),
          ["al_again active"]
        )
        const armed = { id: "al_again", version: 2, watch: { armed: true, cleared: true, mark: 80 }, firing: null }
        yield* alerts.advance([armed])
        yield* alerts.advance([fires("al_again", 3)])
        assert.deepInclude(yield* alerts.find("repeats", "al_again"), { triggerCount: 2, version: 4, armed: false })
        const { rows } = yield* alerts.events("repeats", EVERY)
        assert.deepStrictEqual(
          rows.map(({ eventId }) => eventId),
          ["evt_again_2", "evt_again_1"]
        )
        const versions = new Map((yield* alerts.versions).map(({ id, version }) => [id, version]))
        assert.deepStrictEqual(
          [versions.get("al_again"), versions.has("al_paused"), versions.has("al_over")],
          [4, false, false]
        )
      }).pipe(now)
    )

    it.effect("lists firings newest first, by alert and by time, for thirty days", () =>
      Effect.gen(function* () {
        const alerts = yield* AlertStore
        const repeat = { accountId: "lists", recurrence: "repeat" as const, cooldownSeconds: 60 }
        yield* alerts.create(alertOf("al_l1", repeat))
        yield* alerts.create(alertOf("al_l2", repeat))
        yield* Effect.forEach(
          [1, 2, 3],
          (n) => alerts.advance([fires("al_l1", n), fires("al_l2", n)]).pipe(at(START + n * DAY_MS)),
          { discard: true }
        )
        const ids = (other: object, atMs = START + 3 * DAY_MS) =>
          Effect.map(alerts.events("lists", { ...EVERY, ...other }).pipe(at(atMs)), ({ rows }) =>
            rows.map(({ eventId }) => eventId.slice("evt_".length))
          )
        const pages = yield* walk(
          (after) => alerts.events("lists", { ...EVERY, limit: 2, after }).pipe(at(START + 3 * DAY_MS)),
          ({ eventId }) => eventId.slice("evt_".length)
        )
        assert.deepStrictEqual(pages, [
          ["l2_3", "l1_3"],
          ["l2_2", "l1_2"],
          ["l2_1", "l1_1"]
        ])
        assert.deepStrictEqual(yield* ids({ alertId: "al_l1" }), ["l1_3", "l1_2", "l1_1"])
        assert.deepStrictEqual(yield* ids({ alertId: "al_l1", sinceMs: START + 2 * DAY_MS }), ["l1_3", "l1_2"])
        assert.deepStrictEqual(yield* ids({ alertId: "al_l1" }, START + 32 * DAY_MS), ["l1_3", "l1_2"])
        yield* alerts.remove("lists", "al_l2").pipe(at(START + 5 * DAY_MS))
        yield* alerts.purge.pipe(at(START + 33 * DAY_MS))
        assert.deepStrictEqual(yield* ids({}), ["l2_3", "l1_3"])
        assert.isTrue(yield* alerts.remove("lists", "al_l2"))
        yield* alerts.purge.pipe(at(START + 40 * DAY_MS))
        assert.isFalse(yield* alerts.remove("lists", "al_l2"))
      }).pipe(now)
    )
  })
