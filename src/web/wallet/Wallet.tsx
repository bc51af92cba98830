/** One wallet: its names, its profit, and its trades when it is tracked. */
import { useRoute } from "preact-iso"
import { useState } from "preact/hooks"
import { call, isMissing } from "../data/request.ts"
import { useAddress } from "../data/useAddress.ts"
import { type Read, useRead, useReading } from "../data/useRead.ts"
import { NotFound } from "../frame/NotFound.tsx"
import { CopyText } from "../parts/CopyText.tsx"
import { Dialog } from "../parts/Dialog.tsx"
import { Loading, Shown } from "../parts/States.tsx"
import { Tabs } from "../parts/Tabs.tsx"
import { useTitle } from "../parts/useTitle.ts"
import { shortAddress } from "../parts/words.ts"
import { AddOne } from "../tracker/AddWallets.tsx"
import { EditWallet } from "../tracker/EditWallet.tsx"
import { labelsOf, type Snapshot } from "../tracker/tracked.ts"
import { Balances, type BalancesAnswer, Worth } from "./Balances.tsx"
import { CsvLink } from "./CsvLink.tsx"
import { Funding } from "./Funding.tsx"
import { History } from "./History.tsx"
import { Identity } from "./Identity.tsx"
import { Lots } from "./Lots.tsx"
import { Made } from "./Made.tsx"
import { WalletTrades, WalletTransfers } from "./Movements.tsx"
import { Positions, type PositionsAnswer } from "./Positions.tsx"
import { Results } from "./Results.tsx"
import "../style/market.css"

const READ_MS = 15_000
const IDENTITY_MS = 60_000
const BALANCES_MS = 30_000

type Tab = "positions" | "balances" | "lots" | "trades" | "transfers"

const tabs: ReadonlyArray<readonly [Tab, string]> = [
  ["positions", "Positions"],
  ["balances", "Balances"],
  ["lots", "Lots"],
  ["trades", "Trades"],
  ["transfers", "Transfers"]
]

interface ListsProps {
  readonly wallet: string
  readonly isTracked: boolean
  readonly positions: Read<PositionsAnswer>
  readonly balances: Read<BalancesAnswer>
}

const Movements = ({
  isTracked,
  list,
  wallet
}: Pick<ListsProps, "isTracked" | "wallet"> & { readonly list: "trades" | "transfers" }) => (
  <section class="card" aria-labelledby="movements">
    <div class="row spread">
      <h2 id="movements">{list === "trades" ? "Trades" : "Transfers"}</h2>
      <CsvLink wallet={wallet} list={list} />
    </div>
    {list === "trades" ? <WalletTrades wallet={wallet} isTracked={isTracked} /> : <WalletTransfers wallet={wallet} />}
  </section>
)

/** Positions, balances, lots, trades and transfers. The address names the list that is shown. */
const Lists = ({ balances, isTracked, positions, wallet }: ListsProps) => {
  const { query, set } = useAddress()
  const usual: Tab = positions.answer?.data.status === "unavailable" ? "balances" : "positions"
  const tab = tabs.find(([key]) => key === query["tab"])?.[0] ?? usual
  return (
    <Tabs
      label="Lists of the wallet"
      tabs={tabs}
      chosen={tab}
      onChoose={(next) => set({ tab: next === usual ? "" : next })}
    >
      {tab === "positions" && <Positions read={positions} />}
      {tab === "balances" && <Balances read={balances} />}
      {tab === "lots" && <Lots wallet={wallet} />}
      {(tab === "trades" || tab === "transfers") && <Movements wallet={wallet} isTracked={isTracked} list={tab} />}
    </Tabs>
  )
}

const Tracking = ({
  again,
  snapshot,
  wallet
}: {
  readonly wallet: string
  readonly snapshot: Snapshot
  readonly again: () => void
}) => {
  const [isOpen, setOpen] = useState(false)
  const tracked = snapshot.wallets.find((each) => each.wallet === wallet)
  const close = () => setOpen(false)
  const done = () => {
    close()
    again()
  }
  const label = tracked === undefined ? null : (labelsOf([tracked]).get(wallet) ?? null)
  return (
    <>
      <div class="row">
        {label !== null && <bdi>{label}</bdi>}
        <button type="button" class={tracked === undefined ? "main" : undefined} onClick={() => setOpen(true)}>
          {tracked === undefined ? "Track this wallet" : "Edit tracking"}
        </button>
      </div>
      {tracked !== undefined && tracked.notes !== null && (
        <p class="words" dir="auto">
          {tracked.notes}
        </p>
      )}
      {isOpen && tracked === undefined && (
        <Dialog title="Track this wallet" onClose={close}>
          <AddOne wallet={wallet} groups={snapshot.groups} group={null} onDone={done} />
        </Dialog>
      )}
      {isOpen && tracked !== undefined && (
        <EditWallet wallet={tracked} groups={snapshot.groups} onClose={close} onDone={done} />
      )}
    </>
  )
}

/** The page of the wallet in the address. */
export const Wallet = () => {
  const { wallet = "" } = useRoute().params
  useTitle(`Wallet ${shortAddress(wallet)}`)
  const identity = useReading(
    wallet,
    (signal) => call("POST /api/v1/wallets/summary", { body: { wallets: [wallet] }, signal }),
    IDENTITY_MS
  )
  const positions = useRead(
    "GET /api/v1/wallets/:wallet/positions",
    { path: { wallet }, query: { limit: 500 } },
    READ_MS
  )
  const balances = useRead(
    "GET /api/v1/wallets/:wallet/balances",
    { path: { wallet }, query: { limit: 500 } },
    BALANCES_MS
  )
  const tracker = useRead("GET /api/v1/tracker/snapshot", {}, READ_MS)
  const [row] = identity.answer?.data.wallets ?? []
  if (positions.failure !== null && isMissing(positions.failure)) {
    return <NotFound />
  }
  const isTracked = tracker.answer?.wallets.some((each) => each.wallet === wallet) ?? false
  return (
    <div class="stack">
      <section class="card">
        <div class="row">
          <h1 class="plain-head">Wallet</h1>
          <span class="address">{wallet}</span>
          <CopyText text={wallet} what="the address" />
        </div>
        <div class="worth">
          <Shown read={balances} what="its value" rows={1}>
            {(answer) => <Worth of={answer} />}
          </Shown>
        </div>
        <Funding key={wallet} wallet={wallet} />
        {row !== undefined && row.identity !== null && <Identity of={row.identity} />}
        {identity.failure !== null && <p class="soft">Reading its names and tags failed.</p>}
        <div class="tracking">
          <Shown read={tracker} what="the tracking" rows={1} isQuiet>
            {(snapshot) => <Tracking wallet={wallet} snapshot={snapshot} again={tracker.again} />}
          </Shown>
        </div>
      </section>
      {positions.answer === null && positions.failure === null && <Loading what="the wallet" rows={24} />}
      {positions.answer !== null && positions.answer.data.status !== "unavailable" && (
        <div class="pair">
          <div class="stack">
            <section class="card" aria-labelledby="made">
              <h2 id="made">Profit</h2>
              <Shown read={positions} what="its profit" rows={8}>
                {({ data }) => <Made of={data.summary} />}
              </Shown>
            </section>
            <Results key={wallet} wallet={wallet} />
          </div>
          <History key={wallet} wallet={wallet} />
        </div>
      )}
      {positions.answer !== null && positions.answer.data.status === "unavailable" && (
        <p class="note">
          No trade of this wallet is in the record, so it has no profit and no positions here. It may have traded before
          the record begins.
        </p>
      )}
      {(positions.answer !== null || positions.failure !== null) && (
        <div>
          <Lists key={wallet} wallet={wallet} isTracked={isTracked} positions={positions} balances={balances} />
        </div>
      )}
    </div>
  )
}
