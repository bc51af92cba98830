/** Recomputes positions and profits of wallets from raw blocks, and compares them with a running service. Uses nothing of `src/`. */
import { readFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { blocksOf, call, slotsBetween } from "./recompute/chain.ts"
import { listAccounts } from "./recompute/heldAccounts.ts"
import type { WalletDifference } from "./recompute/compareWallets.ts"
import { noTransfers } from "./recompute/walletTransfers.ts"
import { checkOrigins, originsOf } from "./recompute/origins.ts"
import { busiest, checkMoves, checkWallet, makeReading, moving, type ReadService } from "./recompute/wallets.ts"
import { lamportsAt } from "./recompute/walletHoldings.ts"
import { numberOption } from "./options.ts"

const help = `Usage: npm run recompute:wallets -- --rpc URL --api URL --key KEY [--wallets N] [--rounds N]
  [--identities FILE] [--json]

Reads every block that the node of a simulated chain has over JSON-RPC, rebuilds holdings, lots, cost and profit of the N
busiest wallets (200) from the balances of each token account and transfers, and compares each figure with /wallets/{wallet}/positions, /pnl/history, /trades, /performance, /lots, /balances and /funded-by,
and each holding with the balances of the chain. It also compares launches and the transfers that opened wallets: /funded-by, /related and /launches of up to N wallets each that
launched tokens, that opened wallets, and that were opened. Each row of /transfers, of these wallets and of the N with most transfers, is compared as a whole and asked for
by time, token and side, over all pages. The node has to have every block that the service has
(SIMULATOR_BLOCKS_KEPT), and 200 wallets trade only with SIMULATOR_RETAIL_WALLETS=200. A wallet that trades meanwhile is compared again after the next blocks, at most 30 rounds. Exits with 1 when
a figure differs, and prints each that does. --identities names the file that the service reads as IDENTITIES_FILE, a JSON array
here: lots of wallets with one owner go with their transfers.
`

const MOST_PRINTED = 100
const PAUSE_MS = 2000
/** The most answers with 503 to reads of one path. */
const MOST_TRIES = 60

const { values } = parseArgs({
  options: {
    rpc: { type: "string" },
    api: { type: "string" },
    key: { type: "string" },
    wallets: { type: "string", default: "200" },
    rounds: { type: "string", default: "30" },
    identities: { type: "string" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false }
  }
})

const walletCount = numberOption("--wallets", values.wallets, { whole: true })
const rounds = numberOption("--rounds", values.rounds, { whole: true })

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Reads a path, and waits as long as the service asks for. Tries again while the service cannot answer, at most `MOST_TRIES` times. */
const reader =
  (api: string, key: string): ReadService =>
  async (path) => {
    for (let tries = MOST_TRIES; ;) {
      const response = await fetch(api + path, { headers: { authorization: `Bearer ${key}` } })
      if (response.ok) {
        return (await response.json()) as Awaited<ReturnType<ReadService>>
      }
      const text = await response.text()
      if (response.status !== 429 && (response.status !== 503 || --tries === 0)) {
        throw new Error(`${path}: ${response.status} ${text}`)
      }
      await pause(Number(response.headers.get("retry-after") ?? "1") * 1000)
    }
  }

/** The other wallets of the owner of each wallet, by the records of a file. */
const linksOf = (file: string | undefined): ((wallet: string) => ReadonlyArray<string>) => {
  const records: ReadonlyArray<{ readonly wallet: string; readonly owner?: string | null }> =
    file === undefined ? [] : JSON.parse(readFileSync(file, "utf8"))
  const owners = new Map(records.flatMap(({ owner, wallet }) => (owner ? [[wallet, owner] as const] : [])))
  return (wallet) =>
    Array.from(owners).flatMap(([other, owner]) => (other !== wallet && owner === owners.get(wallet) ? [other] : []))
}

const main = async (rpc: string, read: ReadService): Promise<number> => {
  const linkedTo = linksOf(values.identities)
  const reading = makeReading()
  const state = { from: Number(await call(rpc, "getFirstAvailableBlock", [])), fromMs: 0, toMs: 0 }
  const readBlocks = async () => {
    const to = Number(await call(rpc, "getSlot", [{ commitment: "confirmed" }]))
    for await (const block of blocksOf(rpc, await slotsBetween(rpc, state.from, to))) {
      reading.add(block)
      state.fromMs = state.fromMs === 0 ? block.blockTime * 1000 : state.fromMs
      state.toMs = block.blockTime * 1000
    }
    state.from = to + 1
  }
  await readBlocks()
  const traders = busiest(reading, walletCount)
  const origins = originsOf(reading, walletCount)
  const movers = moving(reading, walletCount)
  const wallets = Array.from(new Set([...traders, ...movers, ...origins]))
  const equal = new Map<string, number>()
  const transfers = noTransfers()
  let differences: ReadonlyArray<WalletDifference> = []
  for (let round = 0; round < rounds && equal.size < wallets.length; round++) {
    await (round === 0 ? undefined : pause(PAUSE_MS))
    differences = []
    for (const wallet of wallets.filter((each) => !equal.has(each))) {
      await readBlocks()
      const checked = traders.includes(wallet)
        ? await checkWallet(reading, wallet, {
            read,
            linkedTo,
            list: (of) => listAccounts(rpc, of),
            lamportsOf: (of) => lamportsAt(rpc, of)
          })
        : null
      const moves = checked === null && movers.includes(wallet) ? await checkMoves(reading, wallet, read) : null
      const compared = [
        ...(checked === null ? [] : [checked]),
        ...(moves === null ? [] : [moves]),
        ...(origins.includes(wallet) ? [await checkOrigins(reading, wallet, read)] : [])
      ]
      const found = compared.flatMap((each) => each.differences)
      differences = [...differences, ...found]
      if (found.length === 0) {
        const counts = checked?.transfers ?? moves?.counts ?? noTransfers()
        transfers.lists += counts.lists
        transfers.pages += counts.pages
        transfers.rows += counts.rows
        transfers.named += counts.named
        equal.set(
          wallet,
          compared.reduce((sum, { figures }) => sum + figures, 0)
        )
      }
    }
  }
  const report = {
    ...reading.counts,
    minutes: Math.round((state.toMs - state.fromMs) / 60_000),
    launches: reading.launches.length,
    openings: reading.openings.length,
    wallets: wallets.length,
    origins: origins.length,
    equal: equal.size,
    figures: Array.from(equal.values()).reduce((sum, figures) => sum + figures, 0),
    transferLists: transfers.lists,
    transferPages: transfers.pages,
    transferRows: transfers.rows,
    transferRowsWithBothEnds: transfers.named,
    different: differences.length,
    differences: differences.slice(0, MOST_PRINTED)
  }
  process.stdout.write(
    values.json
      ? `${JSON.stringify(report)}\n`
      : `${report.blocks} blocks of ${report.minutes} minutes, ${report.events} events, ${report.transfers} transfers, ${report.partial} events that name a part of the accounts, ${report.tokenSwaps} swaps of two tokens, ${report.launches} launches and migrations, ${report.openings} openings of wallets; ${report.figures} figures of ${report.equal} of ${report.wallets} wallets are equal, ${report.transferRows} rows of transfers in ${report.transferPages} pages of ${report.transferLists} lists among them (${report.transferRowsWithBothEnds} with both ends); ${report.different} differ\n${report.differences.map((each) => `  ${JSON.stringify(each)}\n`).join("")}`
  )
  return report.equal === report.wallets && report.figures > 0 ? 0 : 1
}

const { api, key, rpc } = values
if (values.help || rpc === undefined || api === undefined || key === undefined) {
  process.stdout.write(help)
  process.exitCode = values.help ? 0 : 2
} else {
  process.exitCode = await main(rpc, reader(api, key))
}
