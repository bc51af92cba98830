/** Copy trading of the account: follows, fills and profit. This page only reads. */
import { useState } from "preact/hooks"
import type { Answer } from "../data/contract.ts"
import { call } from "../data/request.ts"
import { usePages } from "../data/usePages.ts"
import { Units } from "../parts/Figure.tsx"
import { WalletLink, When } from "../parts/Links.tsx"
import { PagedTable } from "../parts/More.tsx"
import type { Column } from "../parts/Table.tsx"
import { tidyDecimal } from "../parts/numbers.ts"
import { useTitle } from "../parts/useTitle.ts"
import { Fills } from "./Fills.tsx"
import { Profit } from "./Profit.tsx"

type Follow = Answer<"GET /api/v1/copy/follows">["data"][number]

const SOL_DECIMALS = 9
const READ_MS = 15_000

const Lamports = ({ amount }: { readonly amount: string | null }) => (
  <Units amount={amount} decimals={SOL_DECIMALS} symbol="SOL" />
)

const Size = ({ sizing: { amount, maxPerTrade, mode, ratioPct } }: { readonly sizing: Follow["sizing"] }) => (
  <>
    {mode === "fixed" ? <Lamports amount={amount} /> : `${ratioPct} % of the leader's`}
    {maxPerTrade !== null && (
      <>
        , at most <Lamports amount={maxPerTrade} />
      </>
    )}
  </>
)

const filterWords = ({ buys, maxMarketCapUsd, minLeaderUsd, sells, slippageBps }: Follow["filters"]): string =>
  [
    buys && sells ? "buys and sells" : buys ? "buys" : sells ? "sells" : "nothing",
    ...(minLeaderUsd === null ? [] : [`from $${tidyDecimal(minLeaderUsd)}`]),
    ...(maxMarketCapUsd === null ? [] : [`market cap up to $${tidyDecimal(maxMarketCapUsd)}`]),
    `slippage up to ${slippageBps / 100} %`
  ].join(", ")

const columns: ReadonlyArray<Column<Follow>> = [
  { name: "Leader", cell: ({ leader }) => <WalletLink wallet={leader.wallet} label={leader.label} /> },
  { name: "State", cell: ({ status }) => status },
  { name: "Size of a copy", cell: ({ sizing }) => <Size sizing={sizing} /> },
  { name: "Copies", cell: ({ filters }) => filterWords(filters) },
  { name: "Filled", isNumber: true, cell: ({ counts }) => counts.filled },
  { name: "Skipped", isNumber: true, cell: ({ counts }) => counts.skipped },
  { name: "Failed", isNumber: true, cell: ({ counts }) => counts.failed },
  { name: "Last copy", cell: ({ lastFillAtMs }) => <When atMs={lastFillAtMs} /> },
  { name: "Wallet used", cell: ({ ownedWallet }) => <WalletLink wallet={ownedWallet.address} /> }
]

const leaderName = ({ id, leader }: Follow): readonly [string, string] => [
  id,
  leader.label ?? `${leader.wallet.slice(0, 8)}…`
]

/** Follows, fills and profit. */
export const Copy = () => {
  useTitle("Copy")
  const [followId, setFollowId] = useState("")
  const pages = usePages(
    "follows",
    (cursor, signal) => call("GET /api/v1/copy/follows", { query: { cursor, limit: 100 }, signal }),
    ({ id }) => id,
    READ_MS
  )
  const names = pages.items.map(leaderName)
  return (
    <div class="stack">
      <Profit followId={followId} names={new Map(names)} />
      <section class="card" aria-labelledby="follows">
        <h2 id="follows">Follows</h2>
        <p class="soft">Follows are created and ended where the copies are signed. This page only shows them.</p>
        <PagedTable
          pages={pages}
          what="follows"
          height={7}
          caption="Wallets that are copied"
          columns={columns}
          keyOf={({ id }) => id}
          empty="This account follows no wallet."
        />
      </section>
      {/* Below the follows, whose number is unknown until they are read: it would move. */}
      {(pages.read.answer !== null || pages.read.failure !== null) && (
        <Fills follows={names} followId={followId} onChoose={setFollowId} />
      )}
    </div>
  )
}
