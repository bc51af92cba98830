/**
 * A bot that trades one pool in a replay, and writes a report of what it did.
 *
 *     KEY=... MINT=... node replay-bot.ts
 *
 * It buys when the token has fallen over some slots, and sells after a rise or a while. Copy it and replace `decide`.
 */
import type { Client } from "fathom/client"
import { mkdirSync, writeFileSync } from "node:fs"
import { pathToFileURL } from "node:url"

const SOL = "So11111111111111111111111111111111111111112"
/** Venues whose swaps a replay executes to the unit. */
const VENUES = ["raydium-amm-v4", "raydium-cpmm", "raydium-clmm", "orca-whirlpool", "pumpswap"]
/** Slots that are played past a swap, so that its slot has begun even when some slots are missing. */
const SETTLE_SLOTS = 8

export interface Options {
  readonly client: Client
  /** The address of `ADMIN_PORT`. */
  readonly admin: string
  readonly mint: string
  /** Shown as the owner of the swaps. Take a wallet that is not in the recording. */
  readonly wallet: string
  /** The last slot of the recording that is played. */
  readonly to: number
  /** Lamports at the start, and of one purchase. */
  readonly cash: bigint
  readonly stake: bigint
  /** Slots between two looks, and looks over which a fall counts. */
  readonly everySlots: number
  readonly looks: number
  /** A fall that buys and a rise that sells, in basis points, and the looks after which it sells anyway. */
  readonly fallBps: bigint
  readonly riseBps: bigint
  readonly patience: number
  readonly latencySlots: number
  readonly slippageBps: number
}

/** The rule. `bought` is what the stake buys at each look, oldest first; `worth` is what the position sells for. */
const decide = (
  { fallBps, looks, patience, riseBps }: Options,
  seen: { bought: ReadonlyArray<bigint>; tokens: bigint; cost: bigint; worth: bigint | null; held: number }
): "buy" | "sell" | null => {
  if (seen.tokens > 0n) {
    const hasRisen = seen.worth !== null && seen.worth * 10_000n >= seen.cost * (10_000n + riseBps)
    return seen.worth !== null && (hasRisen || seen.held >= patience) ? "sell" : null
  }
  const [first, last] = [seen.bought.at(-looks), seen.bought.at(-1)]
  // More tokens for the same stake: the token has fallen.
  return first !== undefined && last !== undefined && last * 10_000n >= first * (10_000n + fallBps) ? "buy" : null
}

/** What a swap got more than its quote, in basis points with two decimals, cut off. */
const bpsOf = (difference: bigint, quoted: bigint): string | null => {
  if (quoted === 0n) {
    return null
  }
  const hundredths = (difference * 1_000_000n) / quoted
  const size = hundredths < 0n ? -hundredths : hundredths
  return `${hundredths < 0n ? "-" : ""}${size / 100n}.${String(size % 100n).padStart(2, "0")}`
}

/** Trades until the last slot. Returns the report; amounts in it are atomic units. */
export const runBot = async (options: Options) => {
  const { admin, client, everySlots, latencySlots, mint, slippageBps, stake, wallet } = options

  const replay = async (order?: object): Promise<{ readonly slot: number; readonly isPaused: boolean }> => {
    const headers = { "content-type": "application/json" }
    const init = order === undefined ? {} : { method: "POST", headers, body: JSON.stringify(order) }
    const response = await fetch(`${admin}/replay`, init)
    if (!response.ok) {
      throw new Error(await response.text())
    }
    return response.json() as Promise<{ readonly slot: number; readonly isPaused: boolean }>
  }
  const pause = () => new Promise((resolve) => setTimeout(resolve, 5))
  /** Plays up to the end of this slot. */
  const play = async (slot: number) => {
    await replay({ action: "seek", slot })
    while (!(await replay()).isPaused) {
      await pause()
    }
  }

  let pool: string | null = null
  /** What the pool pays at the end of a slot; null when it has no price. Asks for the slot by name, so that it is exact. */
  const quote = async (atSlot: number, inputMint: string, amount: bigint) => {
    const outputMint = inputMint === SOL ? mint : SOL
    const where = pool === null ? { venues: VENUES, directOnly: true } : { pools: [pool] }
    try {
      const { clamped, route } = await client.spot.quote({ query: { inputMint, outputMint, amount, atSlot, ...where } })
      pool ??= route.length === 1 ? (route[0]?.pool ?? null) : null
      return clamped || route.length !== 1 ? null : (route[0]?.amountOut ?? null)
    } catch (failure) {
      if (failure instanceof Error && "code" in failure && failure.code === "no_route") {
        return null
      }
      throw failure
    }
  }

  const fills = []
  const equity = []
  let { cash } = options
  let [tokens, cost, held] = [0n, 0n, 0]
  let bought: Array<bigint> = []
  let { slot } = await replay()
  for (;;) {
    const worth = tokens === 0n ? 0n : await quote(slot, mint, tokens)
    equity.push({ slot, cash, tokens, worth, total: worth === null ? null : cash + worth })
    const left = options.to - slot
    if (left < everySlots) {
      break
    }
    if (tokens === 0n) {
      const out = await quote(slot, SOL, stake)
      bought = out === null ? [] : [...bought, out].slice(-options.looks)
    }
    const side = decide(options, { bought, tokens, cost, worth, held })
    const isPossible = left >= latencySlots + SETTLE_SLOTS && (side === "sell" || cash >= stake)
    if (side !== null && isPossible && pool !== null) {
      const [inputMint, outputMint] = side === "buy" ? [SOL, mint] : [mint, SOL]
      const amount = side === "buy" ? stake : tokens
      const quotedOut = (side === "buy" ? bought.at(-1) : worth) ?? 0n
      const id: string = `swap-${fills.length + 1}`
      const posted = await client.replayFills.post({
        payload: { id, wallet, inputMint, outputMint, amount, pools: [pool], quotedOut, slippageBps, latencySlots }
      })
      const settled = posted.data.slot + SETTLE_SLOTS
      await play(settled)
      let fill = posted.data
      while (fill.status === "pending") {
        await pause()
        fill = (await client.replayFills.list({ query: { wallet } })).data.find((each) => each.id === id) ?? fill
      }
      const out = fill.status === "filled" ? (fill.amountOut ?? 0n) : 0n
      if (fill.status === "filled") {
        cash += side === "buy" ? -amount : out
        tokens = side === "buy" ? out : 0n
        cost = side === "buy" ? amount : 0n
        held = 0
        bought = []
      }
      // The pool without the bot, just before the swap: what lies between this and the quote is the market's doing.
      const marketOut = await quote(fill.slot - 1, inputMint, amount)
      const difference = fill.amountOut === null ? null : fill.amountOut - quotedOut
      fills.push({
        id,
        side,
        status: fill.status,
        reason: fill.reason?.code ?? null,
        postedSlot: fill.postedSlot,
        slot: fill.slot,
        atMs: fill.atMs,
        amountIn: amount,
        quotedOut,
        marketOut,
        amountOut: fill.amountOut,
        difference,
        differenceBps: difference === null ? null : bpsOf(difference, quotedOut),
        byMarket: marketOut === null ? null : marketOut - quotedOut,
        byOwnSwaps: marketOut === null || fill.amountOut === null ? null : fill.amountOut - marketOut
      })
      slot = settled
    } else {
      slot += everySlots
      await play(slot)
    }
    held += tokens > 0n ? 1 : 0
  }
  const start = options.cash
  const end = equity.at(-1)?.total ?? null
  return { mint, pool, start, end, profit: end === null ? null : end - start, cash, tokens, fills, equity }
}

export type Report = Awaited<ReturnType<typeof runBot>>

/** The report as JSON: amounts as text, so that no digit is lost. */
export const jsonOf = (report: Report): string =>
  `${JSON.stringify(report, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value), 2)}\n`

const shown = (value: unknown): string =>
  String(value ?? "unknown").replaceAll(/[&<>"]/gu, (sign) => `&#${sign.charCodeAt(0)};`)

/** Equity over the slots as lines; a slot without a price breaks the line. */
const chartOf = (equity: Report["equity"]): string => {
  const totals = equity.flatMap(({ total }) => (total === null ? [] : [total]))
  const [low, high] = totals.reduce(([a, b], each) => [each < a ? each : a, each > b ? each : b], [
    totals[0] ?? 0n,
    totals[0] ?? 0n
  ] as readonly [bigint, bigint])
  const [from, to] = [equity[0]?.slot ?? 0, equity.at(-1)?.slot ?? 0]
  const lines: Array<Array<string>> = [[]]
  for (const { slot, total } of equity) {
    if (total === null) {
      lines.push([])
      continue
    }
    const x = (BigInt(slot - from) * 800n) / BigInt(Math.max(1, to - from))
    const y = high === low ? 100n : 200n - ((total - low) * 200n) / (high - low)
    lines.at(-1)?.push(`${x},${y}`)
  }
  const drawn = lines.map((points) => `<polyline points="${points.join(" ")}"/>`).join("")
  return `<svg viewBox="-5 -5 810 210" fill="none" stroke="currentColor" role="img" aria-label="Equity">${drawn}</svg>
<p>Equity from ${low} to ${high} lamports, slots ${from} to ${to}.</p>`
}

const tableOf = (rows: ReadonlyArray<Readonly<Record<string, unknown>>>): string => {
  const names = Object.keys(rows[0] ?? {})
  const head = names.map((name) => `<th scope="col">${shown(name)}</th>`).join("")
  const body = rows.map((row) => `<tr>${names.map((name) => `<td>${shown(row[name])}</td>`).join("")}</tr>`)
  return rows.length === 0 ? "<p>None.</p>" : `<table><tr>${head}</tr>\n${body.join("\n")}\n</table>`
}

/** The report as one page that loads nothing. */
export const pageOf = (report: Report): string => {
  const { cash, end, equity, fills, mint, pool, profit, start, tokens } = report
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Replay bot</title>
<style>body{font:14px system-ui;margin:2em}table{border-collapse:collapse}td,th{padding:.2em .6em;text-align:right}</style>
<h1>Replay bot</h1>
${tableOf([{ mint, pool, start, end, profit, cash, tokens }])}
<h2>Equity</h2>
${chartOf(equity)}
<h2>Swaps</h2>
${tableOf(fills.filter(({ status }) => status === "filled"))}
<h2>Failures</h2>
${tableOf(fills.filter(({ status }) => status !== "filled"))}
<h2>Looks</h2>
${tableOf(equity)}
</html>
`
}

if (pathToFileURL(process.argv[1] ?? "").href === import.meta.url) {
  const { createClient } = await import("fathom/client")
  const { ADMIN = "http://127.0.0.1:9100", BASE = "http://127.0.0.1:3000", KEY = "", MINT = "", TO = "" } = process.env
  const report = await runBot({
    client: createClient({ baseUrl: BASE, key: KEY }),
    admin: ADMIN,
    mint: MINT,
    wallet: "7YttLkHDoNj9wyDur5pM1ejNaAvT9X4eqaYcHQqtj2G5",
    to: Number(TO),
    cash: 10_000_000_000n,
    stake: 1_000_000_000n,
    everySlots: 5,
    looks: 4,
    fallBps: 20n,
    riseBps: 50n,
    patience: 10,
    latencySlots: 2,
    slippageBps: 100
  })
  mkdirSync("report", { recursive: true })
  writeFileSync("report/report.json", jsonOf(report))
  writeFileSync("report/report.html", pageOf(report))
  console.log(`${report.fills.length} swaps, profit ${report.profit ?? "unknown"} lamports: report/report.html`)
}
