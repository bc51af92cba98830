import { assert, describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { createServer as createHttpServer } from "node:http"
import { type AddressInfo, connect, createServer } from "node:net"
import { areEqual, differing, hashesOf, lineOf } from "../../scripts/chaos/cluster/blockHashes.ts"
import { budgetsOf } from "../../scripts/chaos/cluster/budgets.ts"
import { HISTORY_AWAY, latestLines, reasonOf } from "../../scripts/chaos/cluster/clickHouse.ts"
import { everyRead, fullestWindow, isDeclared, noAnswers, noteAnswer } from "../../scripts/chaos/cluster/load.ts"
import { type Proof, seeDecisions } from "../../scripts/chaos/cluster/proofs.ts"
import { busyBetween, longest } from "../../scripts/chaos/cluster/recovery.ts"
import { type Findings, verdictsOf } from "../../scripts/chaos/cluster/verdicts.ts"
import { startProxy } from "../../scripts/cluster/proxy.ts"
import { SOL } from "../../src/domain/Address.ts"

const run = (...args: ReadonlyArray<string>) =>
  spawnSync(process.execPath, ["scripts/chaos/cluster.ts", ...args], {
    // No server of Valkey is found there, and no engine of ClickHouse.
    env: { PATH: "/nonexistent", FATHOM_CHDB: "/nonexistent" },
    encoding: "utf8"
  })

describe("a rolling deploy", () => {
  it("is refused from a folder that is no checkout, and without the fault that replaces processes", () => {
    const nowhere = run("--from", "docs")
    assert.deepStrictEqual([nowhere.status, nowhere.stderr.trim()], [2, "--from docs is no checkout."])
    const leader = run("--from", ".", "--faults", "leader")
    assert.deepStrictEqual([leader.status, leader.stderr.trim()], [2, "--from wants deploy as the first fault."])
  })
})

/** A process that refuses every key. */
const refusing = Effect.gen(function* () {
  const server = createHttpServer((_request, response) => response.writeHead(401).end("{}"))
  yield* Effect.callback<void>((resume) => {
    server.listen(0, "127.0.0.1", () => resume(Effect.void))
  })
  yield* Effect.addFinalizer(() => Effect.sync(() => server.close()))
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, role: "api" as const }
})

describe("decisions about keys", () => {
  it.live("are those of the processes that run when they are looked at, not of one that was started anew", () =>
    Effect.gen(function* () {
      const running = [{ baseUrl: "http://127.0.0.1:1", role: "api" as const }]
      const proof = seeDecisions({ running }, [{ secret: "revoked", isAccepted: false }], false)
      running.splice(0, 1, yield* refusing)
      assert.deepStrictEqual(yield* proof, { property: "ended", looked: 1, held: 1 })
    }).pipe(Effect.scoped)
  )
})

describe("admissions of a budget", () => {
  const admitted = [0, 500, 980, 1200, 1400].map((sentMs) => ({ sentMs, answeredMs: sentMs + 10 }))

  it("counts those that were sent and answered within one window", () => {
    expect(fullestWindow([], 1000)).toBe(0)
    expect(fullestWindow(admitted, 1000)).toBe(4)
  })

  it("leaves out one that may have been admitted after the window", () => {
    const late = { sentMs: 900, answeredMs: 1100 }
    expect(fullestWindow([{ sentMs: 0, answeredMs: 10 }, late], 1000)).toBe(1)
  })

  it("counts those before and after a loss of the budgets apart", () => {
    expect(fullestWindow(admitted, 1000, [1000])).toBe(3)
    expect(fullestWindow(admitted, 1000, [400, 990])).toBe(2)
  })
})

/** Admissions, a hundredth of a second apart; of a whole budget unless a count is given. */
const spent = (fromMs: number, count = 120) =>
  Array.from({ length: count }, (_, n) => ({ sentMs: fromMs + 10 * n, answeredMs: fromMs + 10 * n + 5 }))

describe("budgets of both kinds", () => {
  const noTimes = { alone: [], away: [], emptiedMs: [] }
  const away = [{ fromMs: 10_000, toMs: 13_000 }]
  const times = { alone: [{ fromMs: 9000, toMs: 15_000 }], away, emptiedMs: [13_000] }

  it("count what processes decided alone apart from what they shared", () => {
    const local = [...spent(0), ...spent(11_000, 34), ...spent(16_000)]
    expect(budgetsOf({ refuse: [...spent(0), ...spent(16_000)], local }, times)).toEqual({
      budgets: {
        refuse: { fullest: 120, late: 0, fullestWithLosses: 120, alone: 0 },
        local: { fullest: 120, late: 0, fullestWithLosses: 154, alone: 34 }
      },
      isValkeyLost: true
    })
  })

  it("count one too many in a window without a loss, and one that was admitted while Valkey was away", () => {
    const { budgets } = budgetsOf({ refuse: spent(11_000, 1), local: [...spent(0), ...spent(1300, 1)] }, times)
    expect([budgets.refuse.alone, budgets.local.fullest]).toEqual([1, 121])
  })

  it("count apart what a process decided alone because an answer of Valkey was late", () => {
    const alone = spent(1300, 7).map((each) => ({ ...each, isAlone: true }))
    const found = budgetsOf({ refuse: [...spent(0), ...alone], local: [...spent(0), ...alone] }, noTimes).budgets
    expect(found.local).toEqual({ fullest: 120, late: 7, fullestWithLosses: 127, alone: 0 })
    expect([found.refuse.fullest, found.refuse.late]).toEqual([127, 7])
  })

  it("have no loss where Valkey was there throughout", () => {
    const found = budgetsOf({ refuse: spent(0), local: spent(0, 121) }, noTimes)
    expect([found.isValkeyLost, found.budgets.refuse.fullest, found.budgets.local.fullest]).toEqual([false, 120, 121])
  })
})

/** The counts after answers in a row to one request outside of faults. */
const after = (...statuses: ReadonlyArray<number>) => {
  const [answers, tries] = [noAnswers(), { count: 0 }]
  for (const status of statuses) {
    noteAnswer(answers, { path: "/readyz" }, { status, content: { error: { code: "c" } } }, "none", tries)
  }
  return { failed: answers.failed, askedAgain: answers.askedAgain, tries: tries.count }
}

describe("answers", () => {
  it("are declared by the path and method of their operation", () => {
    expect(isDeclared({ path: `/api/v1/tokens/solana/${SOL}/trades?limit=1` }, 200)).toBe(true)
    expect(isDeclared({ path: `/api/v1/tokens/solana/${SOL}/trades` }, 418)).toBe(false)
    expect(isDeclared({ path: "/api/v1/alerts", body: {} }, 201)).toBe(true)
    expect(isDeclared({ path: "/api/v1/alerts" }, 201)).toBe(false)
    expect(isDeclared({ path: "/api/v1/nothing" }, 200)).toBe(false)
  })

  it("that never came belong to their fault and have no status", () => {
    const answers = noAnswers()
    for (const status of [0, 200, 500, 418]) {
      noteAnswer(answers, { path: "/livez" }, { status, content: null }, "leader", { count: 0 })
    }
    expect(answers.unanswered).toEqual({ leader: 1 })
    expect(answers.statuses).toEqual({ 200: 1, 418: 1, 500: 1 })
    expect(answers.undeclared).toEqual([500, 418].map((status) => ({ path: "/livez", status, content: "null" })))
  })

  it("of 500 and above are counted by their fault, status and path", () => {
    const answers = noAnswers()
    for (const [path, status] of [
      ["/readyz", 503],
      ["/api/v1/alerts?limit=1", 503],
      ["/api/v1/alerts?limit=2", 503],
      ["/api/v1/alerts", 429]
    ] as const) {
      noteAnswer(answers, { path }, { status, content: { error: { code: "data_unavailable" } } }, "valkey", {
        count: 0
      })
    }
    noteAnswer(answers, { path: "/readyz" }, { status: 200, content: null }, "none", { count: 0 })
    expect(answers.failed).toEqual({
      valkey: { "503 data_unavailable /readyz": 1, "503 data_unavailable /api/v1/alerts": 2 }
    })
    expect(answers.askedAgain).toEqual({})
  })

  it("of 503 outside of faults fail where the fifth try is answered so too, and others of 500 and above at once", () => {
    expect(after(503, 503, 503, 503)).toEqual({ failed: {}, askedAgain: { "503 c /readyz": 4 }, tries: 4 })
    expect(after(503, 503, 503, 503, 200)).toEqual({ failed: {}, askedAgain: { "503 c /readyz": 4 }, tries: 0 })
    expect(after(503, 503, 503, 503, 503)).toEqual({
      failed: { none: { "503 c /readyz": 1 } },
      askedAgain: { "503 c /readyz": 4 },
      tries: 0
    })
    expect(after(502).failed).toEqual({ none: { "502 c /readyz": 1 } })
  })

  it("are counted by their reason where they are refused", () => {
    expect(reasonOf({ status: 200, content: { data: [] } })).toBe("200")
    const message = "The stored trades are unavailable right now."
    expect(reasonOf({ status: 503, content: { error: { code: "data_unavailable", message } } })).toBe(HISTORY_AWAY)
  })

  it("come from reads of every kind, each declared", () => {
    const reads = everyRead(SOL, SOL)
    const paths = reads.map(({ path }) => path)
    expect(reads.filter((question) => !isDeclared(question, 200))).toEqual([])
    expect(paths.length).toBeGreaterThan(25)
    expect(new Set(paths).size).toBe(paths.length)
  })
})

const line = (slot: number, index: number, amount = 1n) =>
  lineOf({ slot, index, amount, mint: SOL, pool: null, side: "buy", signature: `s${slot}`, wallet: SOL })

describe("hashes of blocks", () => {
  const expected = hashesOf([line(1, 0), line(1, 1), line(2, 0), line(3, 0)])

  it("are equal in any order", () => {
    const found = differing(expected, hashesOf([line(3, 0), line(1, 1), line(2, 0), line(1, 0)]))
    expect(found).toEqual({ blocks: 3, missing: 0, more: 0, other: 0, first: [] })
    expect(areEqual(found)).toBe(true)
  })

  it("differ by a trade that is missing, there twice, or other, and by whole blocks", () => {
    const other = [line(1, 0), line(2, 0), line(2, 0), line(4, 0)]
    expect(differing(expected, hashesOf(other))).toEqual({
      blocks: 3,
      missing: 1,
      more: 1,
      other: 2,
      first: [3, 4, 1, 2]
    })
    const changed = differing(expected, hashesOf([line(1, 0), line(1, 1), line(2, 0), line(3, 0, 2n)]))
    expect([changed.other, areEqual(changed)]).toEqual([1, false])
  })

  it("have the latest version of a trade, and one twice that was stored twice", () => {
    const row = (place: number, version: bigint, amount: bigint) => ({
      slot: 1,
      place,
      version,
      line: line(1, place, amount)
    })
    expect(latestLines([row(0, 5n, 2n), row(0, 0n, 1n), row(1, 0n, 1n), row(1, 0n, 1n)])).toEqual([
      line(1, 0, 2n),
      line(1, 1),
      line(1, 1)
    ])
  })

  it("are not equal where there is none", () => {
    expect(areEqual(differing(new Map(), new Map()))).toBe(false)
  })
})

const recovery = {
  blocksMs: 100,
  requestsMs: 10,
  alertsMs: 200,
  quotesMs: 150,
  quotes: { asked: 9, stale: 0 },
  busy: 0.5
}
const equal = { blocks: 9, missing: 0, more: 0, other: 0, first: [] }
const OTHER_REASON = "503 data_unavailable: The API key cannot be checked: try again."
const whole = { history: { 200: 14 }, live: { 200: 42 }, waiting: 0 }
const alone = { history: { [HISTORY_AWAY]: 14 }, live: { 200: 42 }, waiting: 1 }
const views = { swaps: 5, bars: [5, 5, 5], netTrades: 4, ofWallets: 4 }
const taken: Proof = { property: "taken", looked: 2, held: 2 }
const firings = { acknowledged: 3, lost: 0, twice: 0, trades: { fired: 5, again: 3, twice: 0 } }
const budgets = {
  refuse: { fullest: 120, late: 0, fullestWithLosses: 120, alone: 0 },
  local: { fullest: 120, late: 7, fullestWithLosses: 190, alone: 34 }
}
const good: Findings = {
  times: [
    { fault: "leader", during: recovery, afterwards: recovery, gaps: null, reads: null, proofs: [] },
    {
      fault: "clickhouse",
      during: recovery,
      afterwards: recovery,
      gaps: null,
      reads: { before: whole, during: alone, after: whole },
      proofs: []
    },
    {
      fault: "frozen-replica",
      during: null,
      afterwards: recovery,
      gaps: { compared: 9, refused: 2, hidden: 0 },
      reads: null,
      proofs: []
    },
    { fault: "valkey", during: null, afterwards: recovery, gaps: null, reads: null, proofs: [] },
    { fault: "scale", during: recovery, afterwards: recovery, gaps: null, reads: null, proofs: [taken] }
  ],
  behind: [],
  stored: equal,
  storedViews: views,
  replicas: [{ ...equal, views: { compared: 9, differences: 0 } }],
  alerts: firings,
  budgets,
  isValkeyLost: true,
  sockets: { numbered: 9, silentGaps: 0 },
  silentReaders: 0,
  streams: { priced: 9, silentGaps: 0 },
  silentStreams: 0,
  answers: {
    statuses: { 200: 5, 503: 1 },
    failed: { leader: { "503 data_unavailable /api/v1/alerts": 1 } },
    askedAgain: { "503 limiter_unavailable /api/v1/alerts": 1 },
    areReadsWhole: true,
    undeclared: [],
    unanswered: { leader: 2 }
  }
}

describe("verdicts", () => {
  it("hold for a run without a loss", () => {
    expect(Object.values(verdictsOf(good))).toEqual(Array.from({ length: 12 }, () => true))
  })

  const unquoted = {
    fault: "valkey",
    during: null,
    afterwards: { ...recovery, quotesMs: null },
    gaps: null,
    reads: null,
    proofs: []
  }
  const lost = {
    fault: "leader",
    during: { ...recovery, alertsMs: null },
    afterwards: recovery,
    gaps: null,
    reads: null,
    proofs: []
  }
  const away = (reads: NonNullable<Findings["times"][number]["reads"]>) => ({
    times: [{ fault: "clickhouse", during: recovery, afterwards: recovery, gaps: null, reads, proofs: [] }]
  })
  const proven = (proof: Proof) => ({
    times: [{ fault: "scale", during: recovery, afterwards: recovery, gaps: null, reads: null, proofs: [proof] }]
  })
  const compared = (gaps: Findings["times"][number]["gaps"]) => ({
    times: [{ fault: "frozen-replica", during: null, afterwards: recovery, gaps, reads: null, proofs: [] }]
  })
  const bad: ReadonlyArray<readonly [string, Partial<Findings>]> = [
    ["recovered", { times: [lost] }],
    ["recovered", { times: [unquoted] }],
    ["replicas", { behind: ["api-2"] }],
    ["replicas", { replicas: [] }],
    ["replicas", { replicas: [{ ...equal, missing: 1, views: { compared: 9, differences: 0 } }] }],
    ["replicas", { replicas: [{ ...equal, views: { compared: 9, differences: 1 } }] }],
    ["stored", { stored: { ...equal, more: 1 } }],
    ["stored", { storedViews: { ...views, bars: [5, 6, 5] } }],
    ["stored", { storedViews: { ...views, ofWallets: 3 } }],
    ["stored", { storedViews: { swaps: 0, bars: [0, 0, 0], netTrades: 0, ofWallets: 0 } }],
    ["history", away({ before: whole, during: whole, after: whole })],
    ["history", away({ before: whole, during: { ...alone, history: { [OTHER_REASON]: 14 } }, after: whole })],
    [
      "history",
      away({ before: whole, during: { ...alone, history: { [HISTORY_AWAY]: 13, [OTHER_REASON]: 1 } }, after: whole })
    ],
    ["history", away({ before: whole, during: { ...alone, live: { 200: 41, 503: 1 } }, after: whole })],
    ["history", away({ before: whole, during: { ...alone, waiting: 0 }, after: whole })],
    ["history", away({ before: whole, during: alone, after: { ...whole, waiting: 1 } })],
    ["history", away({ before: alone, during: alone, after: whole })],
    ["gaps", compared({ compared: 0, refused: 0, hidden: 0 })],
    ["gaps", compared({ compared: 9, refused: 2, hidden: 1 })],
    ["limits", { budgets: { ...budgets, refuse: { ...budgets.refuse, fullest: 121 } } }],
    ["limits", { budgets: { ...budgets, refuse: { ...budgets.refuse, fullest: 119 } } }],
    ["limits", { budgets: { ...budgets, refuse: { ...budgets.refuse, alone: 1 } } }],
    ["limits", { budgets: { ...budgets, refuse: { ...budgets.refuse, late: 1 } } }],
    ["limits", { budgets: { ...budgets, local: { ...budgets.local, fullest: 121 } } }],
    ["limits", { budgets: { ...budgets, local: { ...budgets.local, fullestWithLosses: 241 } } }],
    ["limits", { budgets: { ...budgets, local: { ...budgets.local, alone: 0 } } }],
    ["alerts", { alerts: { ...firings, acknowledged: 0 } }],
    ["alerts", { alerts: { ...firings, lost: 1 } }],
    ["alerts", { alerts: { ...firings, twice: 1 } }],
    ["alerts", { alerts: { ...firings, trades: { fired: 5, again: 0, twice: 0 } } }],
    ["alerts", { alerts: { ...firings, trades: { fired: 5, again: 3, twice: 1 } } }],
    ["taken", proven({ ...taken, held: 1 })],
    ["taken", proven({ ...taken, looked: 0, held: 0 })],
    ["sockets", { sockets: { numbered: 9, silentGaps: 1 } }],
    ["sockets", { silentReaders: 1 }],
    ["streams", { streams: { priced: 0, silentGaps: 0 } }],
    ["streams", { streams: { priced: 9, silentGaps: 1 } }],
    ["streams", { silentStreams: 1 }],
    ["failures", { answers: { ...good.answers, areReadsWhole: false } }],
    ["failures", { answers: { ...good.answers, failed: { none: { "503 /api/v1/spot/quote": 1 } } } }],
    ["statuses", { answers: { ...good.answers, unanswered: { none: 1 } } }],
    ["statuses", { answers: { ...good.answers, undeclared: [{ path: "/", status: 500, content: "" }] } }]
  ]
  it.each(bad)("of %s does not hold with %j", (name, change) => {
    const failed = Object.entries(verdictsOf({ ...good, ...change })).flatMap(([each, holds]) => (holds ? [] : [each]))
    expect(failed).toEqual([name])
  })

  it("have the used part of the processor time of a recovery beside them", () => {
    expect(busyBetween({ idle: 100, used: 50 }, { idle: 110, used: 80 })).toBe(0.75)
    expect(busyBetween({ idle: 100, used: 50 }, { idle: 100, used: 50 })).toBe(0)
  })

  it("take the longest time to recover", () => {
    expect(longest([recovery, { ...recovery, blocksMs: 900 }])).toBe(900)
    expect(longest([recovery, lost.during])).toBeNull()
  })
})

describe("the command", () => {
  it("is skipped in words without a server of Valkey where it is short", { timeout: 60_000 }, () => {
    const { status, stderr } = run("--short")
    expect([status, stderr]).toEqual([
      0,
      "No valkey-server or redis-server: the short chaos of a cluster is skipped.\n"
    ])
  })

  it("refuses a fault that it does not know", { timeout: 60_000 }, () => {
    const { status, stderr } = run("--short", "--faults", "leader,flood")
    expect([status, stderr.includes("Unknown faults: flood.")]).toEqual([2, true])
  })

  it("refuses to run without a fault that it can provoke", { timeout: 60_000 }, () => {
    const { status, stderr } = run("--faults", "clickhouse,older-clickhouse")
    expect([status, stderr]).toEqual([
      2,
      "No fault is left: there is no ClickHouse engine. npm run test:clickhouse installs it.\n"
    ])
  })
})

describe("a network that is cut", () => {
  it.live("carries nothing until it is mended, and then what waited", () =>
    Effect.gen(function* () {
      const echo = createServer((socket) => socket.pipe(socket).on("error", () => undefined))
      yield* Effect.acquireRelease(
        Effect.callback<void>((resume) => void echo.listen(0, "127.0.0.1", () => resume(Effect.void))),
        () => Effect.sync(() => echo.close())
      )
      const proxy = yield* startProxy((echo.address() as AddressInfo).port)
      const heard: Array<string> = []
      const waiting: Array<() => void> = []
      const hears = (text: string) =>
        Effect.callback<void>((resume) => {
          const look = () => heard.join("").includes(text) && resume(Effect.void)
          waiting.push(look)
          look()
        })
      const socket = connect(proxy.port, "127.0.0.1")
      socket.on("error", () => undefined)
      socket.on("data", (chunk) => {
        heard.push(String(chunk))
        waiting.forEach((look) => look())
      })
      socket.write("before")
      yield* hears("before")
      yield* proxy.cut
      socket.write("waits")
      const second = connect(proxy.port, "127.0.0.1")
      yield* Effect.callback<void>((resume) => void second.on("connect", () => resume(Effect.void)))
      assert.strictEqual(heard.join(""), "before")
      yield* proxy.mend
      yield* hears("beforewaits")
      second.destroy()
      socket.destroy()
    }).pipe(Effect.scoped)
  )
})
