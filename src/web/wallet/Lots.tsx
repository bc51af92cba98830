/** Lots of a wallet: what each sale took, and what is left, by the method that the reader chooses. */
import type { ComponentChildren } from "preact"
import type { Answer } from "../data/contract.ts"
import { call } from "../data/request.ts"
import { useAddress } from "../data/useAddress.ts"
import { usePages } from "../data/usePages.ts"
import { Amount } from "../parts/Amount.tsx"
import { Choice } from "../parts/Choice.tsx"
import { Facts } from "../parts/Facts.tsx"
import { Units } from "../parts/Figure.tsx"
import { TokenLink, When } from "../parts/Links.tsx"
import { PagedTable } from "../parts/More.tsx"
import type { Column } from "../parts/Table.tsx"
import { CsvLink } from "./CsvLink.tsx"

type LotsAnswer = Answer<"GET /api/v1/wallets/:wallet/lots">
type Lot = LotsAnswer["data"][number]
type Sums = LotsAnswer["meta"]["sums"]
type Method = LotsAnswer["meta"]["method"]
type State = "sold" | "open"

const READ_MS = 30_000
const ROWS = 50

const methods: ReadonlyArray<readonly [Method, string]> = [
  ["average", "Average"],
  ["fifo", "First in"],
  ["lifo", "Last in"],
  ["hifo", "Dearest first"]
]

const states: ReadonlyArray<readonly [State, string]> = [
  ["sold", "Sold"],
  ["open", "Held"]
]

const origins: Readonly<Record<Lot["origin"], string>> = {
  bought: "bought",
  inherited: "held before the record",
  received: "received",
  unpriced: "bought at an unknown price"
}

const COST = "what the units cost is unknown"
const GAIN = "the cost or the proceeds are unknown"

const acquired: Column<Lot> = {
  name: "Acquired",
  cell: ({ acquiredAtMs, origin }) => (
    <>
      {acquiredAtMs !== null && (
        <>
          <When atMs={acquiredAtMs} />{" "}
        </>
      )}
      <span class="soft">{origins[origin]}</span>
    </>
  )
}

const columnsOf = (state: State): ReadonlyArray<Column<Lot>> => [
  { name: "Token", cell: ({ mint }) => <TokenLink mint={mint} /> },
  ...(state === "sold" ? [{ name: "Sold", cell: ({ soldAtMs }: Lot) => <When atMs={soldAtMs} /> }] : []),
  acquired,
  { name: "Amount", isNumber: true, cell: ({ decimals, units }) => <Units amount={units} decimals={decimals} /> },
  { name: "Cost", isNumber: true, cell: ({ costUsd }) => <Amount of={costUsd} unit="usd" why={COST} short /> },
  ...(state === "sold"
    ? [
        {
          name: "Proceeds",
          isNumber: true,
          cell: ({ proceedsUsd }: Lot) => <Amount of={proceedsUsd} unit="usd" why={GAIN} short />
        },
        {
          name: "Gain",
          isNumber: true,
          cell: ({ gainUsd }: Lot) => <Amount of={gainUsd} unit="usd" why={GAIN} signed short />
        }
      ]
    : [])
]

/** A sum; while a row of it is unknown, the sum is unknown too, and says so. */
const Sum = ({ children, unknown }: { readonly children: ComponentChildren; readonly unknown: number }) => (
  <>
    {children}
    {unknown > 0 && <span class="under">{unknown} rows without a known cost or price</span>}
  </>
)

const Totals = ({
  of: { costUsd, gainUsd, knownGainUsd, proceedsUsd, rows, unknown },
  state
}: {
  readonly of: Sums
  readonly state: State
}) => (
  <Facts
    of={[
      ["Rows", String(rows)],
      [
        "Cost",
        <Sum unknown={unknown}>
          <Amount of={costUsd} unit="usd" why={COST} short />
        </Sum>
      ],
      ...(state === "sold"
        ? ([
            ["Proceeds", <Amount of={proceedsUsd} unit="usd" why={GAIN} short />],
            ["Gain", <Amount of={gainUsd} unit="usd" why={GAIN} signed short />],
            ["Gain of the rows that are known", <Amount of={knownGainUsd} unit="usd" why={GAIN} signed short />]
          ] as const)
        : [])
    ]}
  />
)

/** The lots, by a method and a state that the address names. */
export const Lots = ({ wallet }: { readonly wallet: string }) => {
  const { query, set } = useAddress()
  const method = methods.find(([key]) => key === query["method"])?.[0] ?? "average"
  const state = states.find(([key]) => key === query["lots"])?.[0] ?? "sold"
  const pages = usePages(
    `lots ${wallet} ${method} ${state}`,
    (cursor, signal) =>
      call("GET /api/v1/wallets/:wallet/lots", {
        path: { wallet },
        query: { cursor, limit: ROWS, method, state },
        signal
      }),
    (lot) => JSON.stringify(lot),
    READ_MS
  )
  const sums = pages.read.answer?.meta.sums
  return (
    <section class="card" aria-labelledby="lots">
      <div class="row spread">
        <h2 id="lots">Lots</h2>
        <CsvLink wallet={wallet} list="lots" query={{ method, state }} />
      </div>
      <div class="row controls">
        <Choice
          label="Which lots"
          options={states}
          value={state}
          onChange={(next) => set({ lots: next === "sold" ? "" : next })}
        />
        <Choice
          label="Which lot a sale takes"
          options={methods}
          value={method}
          onChange={(next) => set({ method: next === "average" ? "" : next })}
        />
      </div>
      {sums !== undefined && sums.rows > 0 && <Totals of={sums} state={state} />}
      <PagedTable
        pages={pages}
        what="its lots"
        height={8}
        isDense
        caption={state === "sold" ? "What each sale took, the latest sale first." : "What is left of what was bought."}
        columns={columnsOf(state)}
        keyOf={(lot) => JSON.stringify(lot)}
        empty={
          state === "sold"
            ? "No sale of this wallet is in the record."
            : "Nothing that this wallet bought is left, as far as the record reaches."
        }
      />
    </section>
  )
}
