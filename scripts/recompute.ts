/** Recomputes a running service's figures from raw blocks and accounts. Uses nothing of `src/`. */
import { parseArgs } from "node:util"
import { call } from "./recompute/chain.ts"
import { checkBars, checkLiquidity, comparisons, mostTraded } from "./recompute/check.ts"
import { makeFindings } from "./recompute/differences.ts"
import { followChain } from "./recompute/follow.ts"
import { compareLiquidityEvents, mostProvided } from "./recompute/liquidity.ts"
import { awaitHours, checkHolders, compareHolderHours } from "./recompute/holders.ts"
import { compareAtOneSlot } from "./recompute/oneSlot.ts"
import { httpService } from "./recompute/service.ts"
import { numberOption } from "./options.ts"

const help = `Usage: npm run recompute -- --rpc URL --api URL --key KEY [--minutes N] [--mints N] [--whole] [--json]

Reads the blocks of the last N minutes (30) over JSON-RPC, makes the trades from the transfers into and out of the vaults of
each swap, and compares with the service: candles of the N most traded mints (20) and of their busiest pools, in dollars and
in SOL, from a second to an hour; windows and rankings of tokens; totals of the market and of each venue; top traders, and the leading wallets with --whole;
reserves and value of pools from their vaults; liquidity events of the N mints with most of them; holders from all token accounts of a mint and the balances in the blocks
since, where the node lists accounts; the hours of their holders and concentration from the accounts now, back through the balances that the blocks found. An answer is compared with the blocks up to its slot, and asked for again when a block
came meanwhile or it says that it shows an older slot; other callers of the same rankings of tokens can make it 2 seconds older. Only windows within the blocks read
are compared. With --whole every block of the node is read, which must be those that the service began with; longer windows
are then compared where the service states them, and results at cost too. Swaps of programs that publish no layout are not
seen. Exits with 1 when a figure differs, and prints each that does, and when the node has too few blocks to compare a candle.
`

const MINUTE = 60
/** Swaps of SOL of the minutes before price the first trades. */
const BEFORE_SECONDS = 300
/** Milliseconds of a slot, at least. */
const SLOT_MS = 380
/** The service takes the first snapshot of the holders of a token within a minute. */
const HOURS_WITHIN_MS = 90_000

const { values } = parseArgs({
  options: {
    rpc: { type: "string" },
    api: { type: "string" },
    key: { type: "string" },
    minutes: { type: "string", default: "30" },
    mints: { type: "string", default: "20" },
    whole: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false }
  }
})

const minutes = numberOption("--minutes", values.minutes)
const mintCount = numberOption("--mints", values.mints, { whole: true })

const main = async (rpc: string, api: string, key: string): Promise<number> => {
  const service = httpService(api, key)
  const newest = (await call(rpc, "getSlot", [{ commitment: "confirmed" }])) as number
  const oldest = (await call(rpc, "getFirstAvailableBlock", [])) as number
  const seconds = minutes * MINUTE + BEFORE_SECONDS
  const first = values.whole ? oldest : newest - Math.ceil((seconds * 1000) / SLOT_MS)
  const chain = followChain(rpc, Math.max(oldest, first))
  await chain.readOn()
  const findings = makeFindings()
  const mints = mostTraded(chain.after().record, mintCount)
  const closed = Math.floor((chain.blocks.at(-1)?.second ?? 0) / MINUTE - 1) * MINUTE
  await checkBars(service, { ...chain.after(undefined, values.whole), closedTo: closed }, findings, mints)
  const provided = chain.after(undefined, values.whole)
  const newestRead = chain.blocks.at(-1)?.slot ?? 0
  for (const mint of mostProvided(provided, mintCount)) {
    await compareLiquidityEvents(service, provided, newestRead, findings, mint)
  }
  for (const compare of comparisons(mints)) {
    await compareAtOneSlot(service, chain, findings, compare, values.whole)
  }
  const moving = await checkLiquidity(service, rpc, chain.after().record, findings, mints)
  const { record } = chain.after()
  const withoutHolders = await checkHolders(service, rpc, record, findings, mints)
  await awaitHours(service, mints, HOURS_WITHIN_MS)
  const firstRead = chain.blocks[0]?.slot ?? newest
  const withoutHours = await compareHolderHours(service, rpc, chain.after().record, findings, mints, firstRead)
  const { differences } = findings
  const report = {
    blocks: chain.blocks.length,
    swaps: record.pools.length,
    mints: mints.length,
    compared: Object.fromEntries(findings.compared),
    notCompared: {
      unpricedMints: record.unknown.size,
      unexplainedMints: record.unexplained.size,
      movingPools: moving,
      mintsWithoutHolders: withoutHolders,
      mintsWithoutHours: withoutHours
    },
    different: differences.length,
    byField: Object.fromEntries(
      Array.from(
        Map.groupBy(differences, ({ field }) => field),
        ([field, own]) => [field, own.length]
      )
    ),
    differences: differences.slice(0, 100)
  }
  const compared = Array.from(findings.compared, ([kind, count]) => `${count} of ${kind}`).join(", ")
  process.stdout.write(
    values.json
      ? `${JSON.stringify(report)}\n`
      : `${report.blocks} blocks, ${report.swaps} swaps; figures compared: ${compared}; ${report.different} differences\n${differences
          .slice(0, 20)
          .map((each) => `  ${JSON.stringify(each)}\n`)
          .join("")}`
  )
  return report.different === 0 && findings.compared.has("bars") ? 0 : 1
}

const { api, key, rpc } = values
if (values.help || rpc === undefined || api === undefined || key === undefined) {
  process.stdout.write(help)
  process.exitCode = values.help ? 0 : 2
} else {
  process.exitCode = await main(rpc, api, key)
}
