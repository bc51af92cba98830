/** One wallet: its names, its profit, and its trades when it is tracked. */
import { useRoute } from "preact-iso"
import { useState } from "preact/hooks"
import { call, isMissing } from "../data/request.ts"
import { useLiveTrades } from "../data/useLiveTrades.ts"
import { useRead, useReading } from "../data/useRead.ts"
import { NotFound } from "../frame/NotFound.tsx"
import { CopyText } from "../parts/CopyText.tsx"
import { Dialog } from "../parts/Dialog.tsx"
import { Failed, Shown } from "../parts/States.tsx"
import { useTitle } from "../parts/useTitle.ts"
import { shortAddress } from "../parts/words.ts"
import { AddOne } from "../tracker/AddWallets.tsx"
import { EditWallet } from "../tracker/EditWallet.tsx"
import { labelsOf, type Snapshot } from "../tracker/tracked.ts"
import { LiveState, TradeTable } from "../tracker/TradeTable.tsx"
import { History } from "./History.tsx"
import { Identity } from "./Identity.tsx"
import { Made } from "./Made.tsx"
import { Positions } from "./Positions.tsx"

const READ_MS = 15_000
const IDENTITY_MS = 60_000

const Trades = ({ wallet }: { readonly wallet: string }) => {
  const live = useLiveTrades(null)
  return (
    <section class="card" aria-labelledby="live-trades">
      <div class="head">
        <h2 id="live-trades">Trades since tracking began</h2>
        <LiveState state={live.state} gap={live.gap} />
      </div>
      <TradeTable
        trades={live.trades.filter((trade) => trade.wallet === wallet)}
        isLoading={live.isLoading}
        labels={null}
      />
    </section>
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
    { path: { wallet }, query: { limit: 200 } },
    READ_MS
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
        <h1>Wallet</h1>
        <p class="row">
          <span class="address">{wallet}</span>
          <CopyText text={wallet} what="the address" />
        </p>
        {row !== undefined && row.identity !== null && <Identity of={row.identity} />}
        {identity.failure !== null && <Failed failure={identity.failure} isRetrying={identity.isRetrying} />}
        <Shown read={tracker} what="the tracking" rows={1}>
          {(snapshot) => <Tracking wallet={wallet} snapshot={snapshot} again={tracker.again} />}
        </Shown>
      </section>
      <section class="card" aria-labelledby="made">
        <h2 id="made">Profit</h2>
        <Shown read={positions} what="its profit" rows={5}>
          {({ data }) => <Made of={data.summary} />}
        </Shown>
      </section>
      <History key={wallet} wallet={wallet} />
      <Positions read={positions} />
      {isTracked && <Trades key={wallet} wallet={wallet} />}
    </div>
  )
}
