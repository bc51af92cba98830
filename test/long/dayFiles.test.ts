/** Files of whole days, made in a thread from a real database and downloaded over a socket. */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it, layer } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { parquetReadObjects } from "hyparquet"
import { createHash, randomUUID } from "node:crypto"
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { DEFAULT_PLAN, Plan } from "../../src/api/schemas/Plan.ts"
import { spanOf } from "../../src/http/handlers/Exports.ts"
import { Listening } from "../../src/http/server/NodeServer.ts"
import { type DayFileReads, DayFiles, type DayRequest } from "../../src/market/export/DayFiles.ts"
import * as DayFilesDisk from "../../src/market/export/DayFilesDisk.ts"
import { BlockStore } from "../../src/market/model/BlockStore.ts"
import * as SourceMonitor from "../../src/operations/SourceMonitor.ts"
import { transaction } from "../../src/storage/transaction.ts"
import { keyOf, running, secretOf } from "../support/http.ts"
import { storesOn } from "../support/marketStores.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import { MONDAY, walletOf } from "../market/tape/tape.ts"
import { storedBlock } from "../market/history/storedBlock.ts"

const DAY = 86_400
const dayAt = (n: number): string => new Date((MONDAY + n * DAY) * 1000).toISOString().slice(0, 10)
const [MONDAYS, TUESDAYS, THURSDAYS] = [dayAt(0), dayAt(1), dayAt(3)]

const folders: Array<string> = []
const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "fathom-days-"))
  folders.push(folder)
  return folder
}
const cleaned = Layer.effectDiscard(
  Effect.addFinalizer(() =>
    Effect.sync(() => folders.splice(0).forEach((path) => rmSync(path, { recursive: true, force: true })))
  )
)

const filesIn = (folder: string, mib = "64") =>
  DayFilesDisk.layer.pipe(
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ DATA_DIR: folder, EXPORTS_MIB: mib })))
  )

/** Sunday's last second, three days, a gap on Thursday that is read again, and a Friday without rows. */
const stored = Effect.gen(function* () {
  const store = yield* BlockStore
  yield* store.open({ genesis: "days", isSandbox: false })
  yield* store.append([storedBlock(-2, [{}])])
  for (let n = 0; n < 3; n++) {
    const blocks = Array.from({ length: 50 }, (_, i) =>
      storedBlock(n * DAY + i * 60, [
        { volumeUsdNanos: BigInt(n * 1000 + i) },
        { role: "transfer", ...(i % 2 === 0 && { counterparty: walletOf(4) }) }
      ])
    )
    yield* store.append(blocks)
  }
  yield* store.append([storedBlock(3 * DAY + 5, [{}]), storedBlock(3 * DAY + 900, [{}], { afterGap: true })])
  yield* store.append([storedBlock(4 * DAY + 5, [])])
  yield* store.append([storedBlock(5 * DAY + 5, [{}])])
  yield* store.closeBars
})

const exporting = Plan.make({ ...DEFAULT_PLAN, name: "exporting", exports: 2, rest: 100_000 })
const plans = [keyOf("a", { plan: exporting }), keyOf("b")]

/** A day whose rows take more than a MiB, after the days of `stored`. */
const storedLarge = Effect.gen(function* () {
  const store = yield* BlockStore
  yield* stored
  yield* store.append([
    storedBlock(
      5 * DAY + 60,
      Array.from({ length: 6000 }, () => ({}))
    ),
    storedBlock(6 * DAY + 5, [{}])
  ])
})

const minutesPass = TestClock.adjust("1 minute").pipe(
  Effect.andThen(TestClock.withLive(Effect.sleep("20 millis"))),
  Effect.forever
)

const database = TestDatabase.layer
const base = Layer.provideMerge(storesOn(database), Layer.merge(database, cleaned))
const folder = newFolder()

const ask = Effect.fnUntraced(function* (
  path: string,
  headers: Readonly<Record<string, string>> = {},
  letter = "a",
  method = "GET"
) {
  const { url } = yield* Listening
  return yield* Effect.promise(async () => {
    const response = await fetch(`${url}/api/v1/exports/${path}`, {
      method,
      headers: { authorization: `Bearer ${secretOf(letter)}`, ...headers }
    })
    const body = Buffer.from(await response.arrayBuffer())
    return { status: response.status, headers: response.headers, body }
  })
})

/** The file, however long a busy machine takes to make it. */
const download = Effect.fnUntraced(function* (path: string) {
  let answer = yield* ask(path)
  while (answer.status === 503) {
    assert.strictEqual(answer.headers.get("retry-after"), "5")
    answer = yield* ask(path)
  }
  return answer
})

const codeOf = ({ body, status }: { readonly body: Buffer; readonly status: number }) => [
  status,
  JSON.parse(body.toString()).error.code
]

const request = (given: Partial<DayRequest> = {}): DayRequest => ({
  dataset: "trades",
  format: "csv",
  day: MONDAYS,
  width: "1m",
  ...given
})

describe.runIf(TestDatabase.isAvailable)("a file of a day", () => {
  const files = filesIn(folder).pipe(Layer.provide(base))
  const service = running({ keys: plans }).pipe(Layer.provide(files))
  const world = Layer.provideMerge(Layer.mergeAll(service, Layer.effectDiscard(stored)), base)
  layer(world, { timeout: "2 minutes", excludeTestServices: true })((it) => {
    it.effect("has every row of the day and nothing else, and says what it is", () =>
      Effect.gen(function* () {
        const { body, headers, status } = yield* download(`trades/${TUESDAYS}.parquet`)
        assert.strictEqual(status, 200)
        assert.strictEqual(headers.get("content-type"), "application/vnd.apache.parquet")
        assert.strictEqual(headers.get("content-length"), String(body.length))
        assert.strictEqual(headers.get("accept-ranges"), "bytes")
        assert.strictEqual(headers.get("fathom-gaps"), "0")
        assert.strictEqual(headers.get("etag"), `"${createHash("sha256").update(body).digest("base64url")}"`)
        const file = body.buffer.slice(body.byteOffset, body.byteOffset + body.length) as ArrayBuffer
        const rows = yield* Effect.promise(() => parquetReadObjects({ file }))
        assert.lengthOf(rows, 50)
        const nanos = rows.reduce((sum, { volume_usd }) => sum + Math.round(Number(volume_usd) * 1e9), 0)
        assert.strictEqual(nanos, 50 * 1000 + (50 * 49) / 2)
        const csv = (yield* download(`wallets/${TUESDAYS}.csv`)).body.toString().trim().split("\n")
        assert.lengthOf(csv, 101)
        const last = csv.map((line) => line.split(",").at(-1))
        assert.deepStrictEqual(last.slice(0, 5), ["counterparty", "", walletOf(4), "", ""])
        assert.lengthOf(
          last.filter((each) => each === walletOf(4)),
          25
        )
        const bars = (yield* download(`bars/${TUESDAYS}.ndjson?width=1h`)).body.toString().trim().split("\n")
        assert.strictEqual(JSON.parse(bars[0] ?? "").time, `${TUESDAYS}T00:00:00.000Z`)
      })
    )

    it.effect("is made once, and comes in pieces that are the whole", () =>
      Effect.gen(function* () {
        const path = `trades/${MONDAYS}.csv`
        const whole = yield* download(path)
        const made = readdirSync(join(folder, "exports")).toSorted()
        const etag = whole.headers.get("etag") ?? ""
        const pieces = yield* Effect.forEach(
          ["bytes=0-99", "bytes=100-", `bytes=-${whole.body.length - 100}`],
          (range) => ask(path, { range, "if-range": etag })
        )
        assert.deepStrictEqual(
          pieces.map(({ status }) => status),
          [206, 206, 206]
        )
        assert.strictEqual(pieces[0]?.headers.get("content-range"), `bytes 0-99/${whole.body.length}`)
        assert.deepStrictEqual(pieces[1]?.body, pieces[2]?.body)
        assert.deepStrictEqual(
          Buffer.concat([pieces[0]?.body ?? Buffer.of(), pieces[1]?.body ?? Buffer.of()]),
          whole.body
        )
        assert.deepStrictEqual(readdirSync(join(folder, "exports")).toSorted(), made)
        const other = yield* ask(path, { range: "bytes=0-9", "if-range": '"other"' })
        assert.deepStrictEqual([other.status, other.body.length], [200, whole.body.length])
        const beyond = yield* ask(path, { range: `bytes=${whole.body.length}-` })
        assert.deepStrictEqual(codeOf(beyond), [416, "range_not_satisfiable"])
        assert.strictEqual(beyond.headers.get("content-range"), `bytes */${whole.body.length}`)
        const known = yield* ask(path, { "if-none-match": etag })
        assert.deepStrictEqual([known.status, known.body.length, known.headers.get("etag")], [304, 0, etag])
        const head = yield* ask(path, {}, "a", "HEAD")
        assert.deepStrictEqual(
          [head.status, head.body.length, head.headers.get("content-length")],
          [200, 0, String(whole.body.length)]
        )
      })
    )

    it.effect("is empty for a day without rows", () =>
      Effect.gen(function* () {
        const { body, headers, status } = yield* download(`trades/${dayAt(4)}.ndjson`)
        assert.deepStrictEqual([status, body.length, headers.get("content-length")], [200, 0, "0"])
        const beyond = yield* ask(`trades/${dayAt(4)}.ndjson`, { range: "bytes=0-" })
        assert.deepStrictEqual([beyond.status, beyond.headers.get("content-range")], [416, "bytes */0"])
      })
    )

    it.effect("is made again when it has vanished", () =>
      Effect.gen(function* () {
        const path = `wallets/${MONDAYS}.csv`
        const first = yield* download(path)
        const exports = join(folder, "exports")
        const name = readdirSync(exports).find((each) => each.startsWith(`wallets-${MONDAYS}.csv`)) ?? ""
        rmSync(join(exports, name))
        const again = yield* download(path)
        assert.deepStrictEqual([again.status, again.body], [200, first.body])
        assert.include(readdirSync(exports), name)
      })
    )

    it.effect("is refused by name while the day is not whole, and where there is none", () =>
      Effect.gen(function* () {
        for (const [path, code] of [
          [`trades/${THURSDAYS}.csv`, [409, "day_not_whole"]],
          [`trades/${dayAt(5)}.csv`, [409, "day_not_whole"]],
          [`trades/${dayAt(-1)}.csv`, [409, "day_not_whole"]],
          [`trades/${dayAt(-2)}.csv`, [404, "not_found"]],
          ["trades/2026-02-30.csv", [400, "invalid_request"]],
          ["trades/2026-02-03.xls", [400, "invalid_request"]],
          ["other/2026-02-03.csv", [400, "invalid_request"]],
          [`trades/${TUESDAYS}.csv?width=1h`, [400, "invalid_request"]]
        ] as const) {
          assert.deepStrictEqual(codeOf(yield* ask(path)), [...code], path)
        }
        const open = yield* ask(`trades/${THURSDAYS}.csv`)
        assert.include(open.body.toString(), "1 gaps are being read again")
      })
    )

    it.effect("needs a plan with exports", () =>
      Effect.gen(function* () {
        const refused = yield* ask(`trades/${TUESDAYS}.csv`, {}, "b")
        assert.deepStrictEqual(codeOf(refused), [403, "feature_unavailable"])
        assert.include(refused.body.toString(), "plan")
      })
    )
  })
})

const build = (path: string, mib?: string) =>
  Effect.map(Layer.build(Layer.fresh(filesIn(path, mib))), (context) => Context.get(context, DayFiles))

/** The file, however long a busy machine takes to make it. */
const made = ({ find }: DayFileReads) => Effect.retry(find(request()), { while: ({ reason }) => reason === "making" })

describe.runIf(TestDatabase.isAvailable)("the folder of the files", () => {
  layer(Layer.provideMerge(Layer.effectDiscard(storedLarge), base), {
    timeout: "2 minutes",
    excludeTestServices: true
  })((it) => {
    it.effect("keeps files over a restart, and removes the remains of a process that was killed", () =>
      Effect.gen(function* () {
        const path = newFolder()
        const first = yield* Effect.scoped(Effect.flatMap(build(path), made))
        const exports = join(path, "exports")
        const left = join(exports, `unfinished-7-${randomUUID()}.part`)
        writeFileSync(left, "half")
        utimesSync(left, new Date(0), new Date(0))
        const { find } = yield* build(path)
        assert.deepStrictEqual(readdirSync(exports), [basename(first.path)])
        assert.deepInclude(yield* find(request()), { path: first.path, tag: first.tag, bytes: first.bytes })
      })
    )

    it.effect("leaves what another process is writing, and folders, alone", () =>
      Effect.gen(function* () {
        const path = newFolder()
        const first = yield* Effect.scoped(Effect.flatMap(build(path), made))
        const exports = join(path, "exports")
        const others = ["lost+found", `unfinished-7-${randomUUID()}.part`]
        mkdirSync(join(exports, "lost+found"))
        writeFileSync(join(exports, others[1] ?? ""), "half")
        const reads = yield* build(path)
        assert.strictEqual((yield* reads.find(request())).path, first.path)
        rmSync(first.path)
        assert.strictEqual((yield* made(reads)).path, first.path)
        assert.sameMembers(readdirSync(exports), [...others, basename(first.path)])
      })
    )

    it.effect("makes a file of a day once for requests that come together", () =>
      Effect.gen(function* () {
        const path = newFolder()
        const { find } = yield* build(path)
        const found = yield* Effect.all(
          Array.from({ length: 20 }, () => find(request())),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(new Set(found.map(({ path }) => path)).size, 1)
        assert.lengthOf(readdirSync(join(path, "exports")), 1)
      })
    )

    it.effect("makes a file again that an earlier release made with other columns", () =>
      Effect.gen(function* () {
        const path = newFolder()
        const exports = join(path, "exports")
        mkdirSync(exports)
        writeFileSync(join(exports, `trades-${MONDAYS}.csv~days-0~0~${"t".repeat(43)}`), "earlier")
        const { bytes, path: kept } = yield* Effect.flatMap(build(path), made)
        assert.isAbove(bytes, 1000)
        assert.deepStrictEqual(readdirSync(exports), [basename(kept)])
      })
    )

    it.effect("drops the file that was not used for longest once there is no room", () =>
      Effect.gen(function* () {
        const path = newFolder()
        mkdirSync(join(path, "exports"))
        const tag = "t".repeat(43)
        const old = `trades-2020-01-01.csv~days-0~0~${tag}`
        writeFileSync(join(path, "exports", old), Buffer.alloc(2 ** 20))
        const { path: kept } = yield* Effect.flatMap(build(path, "1"), made)
        assert.deepStrictEqual(readdirSync(join(path, "exports")), [basename(kept)])
      })
    )

    it.effect("that cannot be written gives a failure with a name, no file and no second attempt at once", () =>
      Effect.gen(function* () {
        const path = newFolder()
        writeFileSync(join(path, "exports"), "no folder")
        const { find } = yield* build(path)
        const refused = yield* Effect.flip(find(request()))
        assert.strictEqual(refused.reason, "failed")
        const again = yield* Effect.flip(find(request()))
        assert.include(again.detail, "a moment ago")
      })
    )

    it.effect("does not try a file again for an hour that was too large", () =>
      Effect.gen(function* () {
        const path = newFolder()
        const exports = join(path, "exports")
        const large = request({ day: dayAt(5) })
        mkdirSync(exports)
        writeFileSync(join(exports, `trades-${dayAt(5)}.csv~older-0~0~${"t".repeat(43)}`), "older")
        const { find } = yield* build(path, "1")
        assert.include((yield* Effect.flip(find(large))).detail, "larger than EXPORTS_MIB")
        assert.deepStrictEqual(readdirSync(exports), [])
        rmSync(exports, { recursive: true })
        writeFileSync(exports, "no folder")
        yield* TestClock.adjust("59 minutes")
        assert.include((yield* Effect.flip(find(large))).detail, "larger than EXPORTS_MIB")
        yield* TestClock.adjust("1 minute")
        assert.include((yield* Effect.flip(find(large))).detail, "could not be made")
      }).pipe(Effect.provide(TestClock.layer()))
    )

    it.effect("goes on with the next file when one took more than 30 minutes", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const monitor = yield* SourceMonitor.SourceMonitor
        const { find } = yield* build(newFolder())
        const refused = yield* transaction(
          sql,
          Effect.andThen(
            sql`lock table trade_rows in access exclusive mode`,
            Effect.raceFirst(
              Effect.flip(Effect.retry(find(request()), { while: ({ reason }) => reason === "making" })),
              minutesPass
            )
          )
        )
        assert.strictEqual(refused.reason, "failed")
        assert.strictEqual(monitor.stateOf("exports", 0)?.status, "unavailable")
        yield* find(request({ day: TUESDAYS }))
        assert.strictEqual(monitor.stateOf("exports", 0)?.status, "known")
      }).pipe(Effect.provide([TestClock.layer(), SourceMonitor.layer]))
    )

    it.effect("stays empty with EXPORTS_MIB=0", () =>
      Effect.gen(function* () {
        const { find } = yield* build(newFolder(), "0")
        assert.strictEqual((yield* Effect.flip(find(request()))).reason, "off")
      })
    )
  })
})

describe("a range of bytes", () => {
  it("is one span within the file, or the whole file", () => {
    assert.deepStrictEqual(spanOf("bytes=0-0", 10), [0, 1])
    assert.deepStrictEqual(spanOf("bytes=3-", 10), [3, 10])
    assert.deepStrictEqual(spanOf("bytes=-4", 10), [6, 10])
    assert.deepStrictEqual(spanOf("bytes=-40", 10), [0, 10])
    assert.deepStrictEqual(spanOf("bytes=5-400", 10), [5, 10])
    for (const whole of [undefined, "bytes=-", "bytes=4-3", "bytes=0-1,3-4", "lines=0-1", "bytes=a-b"]) {
      assert.isNull(spanOf(whole, 10), whole)
    }
    assert.deepStrictEqual(spanOf("bytes=10-", 10), [0, 0])
    assert.deepStrictEqual(spanOf("bytes=-0", 10), [0, 0])
  })
})
