/** Decodes transactions from files: legs, net trades, fees and the reason of everything left out. */
import { Result } from "effect"
import { readFileSync } from "node:fs"
import { fromAtomic } from "../src/domain/decimal.ts"
import type { Quantity, Trade } from "../src/api/schemas/Trade.ts"
import { swapDecoders } from "../src/programs/registry.ts"
import { decodeTrades } from "../src/chain/decoding/decodeTrades.ts"
import { leftOutOf } from "./decode/leftOut.ts"
import { readTransaction, type Transaction } from "../src/chain/decoding/transaction.ts"
import { walletTransfersOf } from "../src/chain/decoding/walletTransfers.ts"

const help = `Usage: npm run decode -- FILE... [--json]

Each FILE holds the result of getTransaction, in encoding json or jsonParsed, bare or under "transaction" or "result".
Prints its legs (what each pool got and paid), its net trades (what each wallet gave and got) with their fees, the
transfers outside of trades, and the reason of everything else that moved. With --json one object a file, amounts as
digits. Exits with 1 when a file cannot be read.
`

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The result of getTransaction in a file's content, which may lie under a name or two. */
const resultIn = (content: unknown): unknown => {
  if (!isFields(content) || "slot" in content) {
    return content
  }
  const inner = content["transaction"] ?? content["result"]
  return inner === undefined ? content : resultIn(inner)
}

const quotable = new Map(swapDecoders.map((decoder) => [decoder.dex, decoder.quotable !== false]))

const decoded = (transaction: Transaction) => {
  const trades = decodeTrades(transaction)
  return {
    signature: transaction.signature,
    slot: transaction.slot,
    networkFee: transaction.feeLamports,
    legs: trades.legs.map((leg) => ({ ...leg, quotable: quotable.get(leg.dex) ?? false })),
    nets: trades.nets,
    transfers: walletTransfersOf(transaction, trades),
    unresolved: trades.unresolved,
    leftOut: leftOutOf(transaction, trades)
  }
}

type Decoded = ReturnType<typeof decoded>

const amount = ({ amount: units, decimals, mint }: Quantity): string =>
  `${decimals === null ? `${units} units of` : fromAtomic(units, decimals)} ${mint}`

const placeOf = ({ inner, outer }: { readonly outer: number; readonly inner: number | null }): string =>
  inner === null ? `#${outer}` : `#${outer}.${inner}`

const swap = (trade: Trade): string =>
  `${placeOf(trade)} ${trade.wallet} ${trade.side} ${amount(trade.token)} for ${amount(trade.quote)}`

const lines = ({ leftOut, legs, nets, networkFee, signature, slot, transfers, unresolved }: Decoded): string =>
  [
    `${signature} (slot ${slot}, network fee ${fromAtomic(networkFee, 9)} SOL)`,
    ...legs.map((leg) => {
      const notes = [
        leg.confirmed === null ? "no event" : leg.confirmed ? "confirmed" : "contradicted by its event",
        ...(leg.quotable ? [] : ["not quotable"]),
        ...(leg.transferFees === null
          ? []
          : [`transfer fees: token ${leg.transferFees.token}, quote ${leg.transferFees.quote} units`])
      ]
      return `  leg ${leg.index}  ${swap(leg)} on ${leg.dex} ${leg.pool} (${notes.join(", ")})`
    }),
    ...nets.flatMap((net) => [
      `  net ${net.index}  ${swap(net)} through ${net.dex ?? "no known program"}, legs ${net.legs.join(", ") || "none"}`,
      ...net.fees.map(
        (fee) =>
          `    fee  ${placeOf(fee)} ${fee.kind} ${amount(fee)} to ${fee.recipient}, ${fee.included ? "included" : "beside"}`
      )
    ]),
    ...transfers.map((moved) => `  transfer  ${placeOf(moved)} ${amount(moved)} from ${moved.from} to ${moved.to}`),
    ...(unresolved === 0 ? [] : [`  unresolved swaps: ${unresolved}`]),
    ...leftOut.map((left) => `  left out  ${placeOf(left)} ${left.program} ${left.wallet ?? ""} ${left.reason}`)
  ].join("\n")

const json = (file: string, value: object): string =>
  JSON.stringify({ file, ...value }, (_key, member: unknown) => (typeof member === "bigint" ? String(member) : member))

const read = (file: string): Result.Result<Transaction, string> => {
  try {
    const content: unknown = JSON.parse(readFileSync(file, "utf8"))
    return Result.mapError(readTransaction(resultIn(content)), ({ detail }) => `not a transaction: ${detail}`)
  } catch (error) {
    return Result.fail(error instanceof Error ? error.message : String(error))
  }
}

const main = (args: ReadonlyArray<string>): number => {
  const files = args.filter((arg) => !arg.startsWith("--"))
  const asJson = args.includes("--json")
  if (files.length === 0 || args.includes("--help")) {
    process.stdout.write(help)
    return files.length === 0 && !args.includes("--help") ? 1 : 0
  }
  let unread = 0
  for (const file of files) {
    const transaction = read(file)
    if (Result.isFailure(transaction)) {
      unread += 1
      const { failure } = transaction
      process[asJson ? "stdout" : "stderr"].write(
        `${asJson ? json(file, { error: failure }) : `${file}: ${failure}`}\n`
      )
    } else {
      const value = decoded(transaction.success)
      process.stdout.write(`${asJson ? json(file, value) : lines(value)}\n`)
    }
  }
  return unread === 0 ? 0 : 1
}

process.exitCode = main(process.argv.slice(2))
