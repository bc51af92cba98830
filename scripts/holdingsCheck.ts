/** Compares the figures of tracked wallets of a running service with the chain, for as long as asked. Uses nothing of `src/`. */
import { parseArgs } from "node:util"
import { call } from "./recompute/chain.ts"
import { ChainFigures, newestSlot } from "./holdings/chainFigures.ts"
import { LiveFigures } from "./holdings/liveFigures.ts"
import { type Caller, track, trackedSince, untrack } from "./holdings/service.ts"
import { type HoldingsSource, sweep, type SweepReport } from "./holdings/sweep.ts"
import { tradersOf } from "./holdings/traders.ts"
import { numberOption } from "./options.ts"

const help = `Usage: npm run holdings:check -- --rpc URL --api URL --key KEY [--minutes N] [--wallets N] [--every N] [--json]

Tracks the N wallets (120) that traded last beside the account's own, follows their live figures for N minutes of the chain
(30, slots of 400 ms), and looks at all of them every N minutes (5) and at the end: the holding of every position in live frames,
and of some wallets in turn in /wallets/{wallet}/positions, is the sum of the wallet's token accounts at the node; the strict total is known where every
cost was seen in the blocks since, and the known share for all others. The wallets that it tracked are removed at the end.
Exits with 1 when a figure differs, and prints each that does.
`

const SLOTS_PER_MINUTE = 150
const MOST_PRINTED = 100
const PAUSE_MS = 1000
/** Looks at a wallet that differs: figures of a wallet that trades meanwhile are late. */
const ROUNDS = 30
/** Wallets whose positions are read at one look, in turn: a key may begin 60 such reads a minute. */
const READS = 40

const { values } = parseArgs({
  options: {
    rpc: { type: "string" },
    api: { type: "string" },
    key: { type: "string" },
    minutes: { type: "string", default: "30" },
    wallets: { type: "string", default: "120" },
    every: { type: "string", default: "5" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false }
  }
})

const minutes = numberOption("--minutes", values.minutes)
const every = numberOption("--every", values.every)
const walletCount = numberOption("--wallets", values.wallets, { whole: true })

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const write = (report: SweepReport, minutes: number): void => {
  const { kinds, rounds } = report
  process.stderr.write(
    `minute ${minutes}: ${report.holdings} holdings equal after ${rounds} rounds, ${report.differences.length} figures differ; ${kinds.strict} wallets strict, ${kinds.partly} partly known, ${kinds.unmarked} without a mark, ${kinds.idle} without a trade\n`
  )
}

/** Looks every `every` minutes of the chain until `minutes` are over. */
const watch = async (source: HoldingsSource, wallets: ReadonlyArray<string>, begun: number) => {
  const reports: Array<SweepReport> = []
  for (let minute = Math.min(every, minutes); ; minute = Math.min(minute + every, minutes)) {
    while ((await newestSlot(source.rpc)) < begun + minute * SLOTS_PER_MINUTE) {
      await source.chain.readOn()
      await pause(PAUSE_MS)
    }
    const from = (reports.length * READS) % wallets.length
    const reads = new Set([...wallets, ...wallets].slice(from, from + READS))
    const report = await sweep(source, wallets, { rounds: ROUNDS, pauseMs: PAUSE_MS, reads })
    write(report, minute)
    reports.push(report)
    if (minute >= minutes) {
      return reports
    }
  }
}

const main = async (rpc: string, caller: Caller): Promise<number> => {
  await call(rpc, "getHealth", [])
  const before = await trackedSince(caller)
  const wanted = (await tradersOf(rpc, walletCount)).filter((wallet) => !before.has(wallet))
  const begun = await newestSlot(rpc)
  await track(caller, wanted)
  const tracked = await newestSlot(rpc)
  try {
    // Figures of wallets that were tracked before come from blocks that the node may no longer have.
    const sinces = new Map(Array.from(await trackedSince(caller)).filter(([wallet]) => !before.has(wallet)))
    const live = new LiveFigures(caller)
    await live.open()
    const chain = new ChainFigures(rpc, sinces, { from: begun, tracked })
    const reports = await watch({ caller, rpc, chain, live }, Array.from(sinces.keys()), begun)
    live.close()
    const last = reports.at(-1)
    const different = reports.flatMap(({ differences }) => differences)
    const report = {
      ...chain.counts(),
      ...live.counts,
      minutes,
      wallets: sinces.size,
      looks: reports.length,
      holdings: reports.reduce((sum, { holdings }) => sum + holdings, 0),
      kinds: last?.kinds,
      different: different.length,
      differences: different.slice(0, MOST_PRINTED)
    }
    const text = `${report.looks} looks at ${report.wallets} wallets in ${report.minutes} minutes: ${report.holdings} holdings equal the chain, ${report.different} figures differ\n${report.differences.map((each) => `  ${JSON.stringify(each)}\n`).join("")}`
    process.stdout.write(values.json ? `${JSON.stringify(report)}\n` : text)
    return report.different === 0 && report.holdings > 0 ? 0 : 1
  } finally {
    await untrack(caller, wanted)
  }
}

const { api, key, rpc } = values
if (values.help || rpc === undefined || api === undefined || key === undefined) {
  process.stdout.write(help)
  process.exitCode = values.help ? 0 : 2
} else {
  process.exitCode = await main(rpc, { api, key })
}
