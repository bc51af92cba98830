/** Tracked wallets of the account by group, and their live trades. */
import { useRef, useState } from "preact/hooks"
import { useLiveTrades } from "../data/useLiveTrades.ts"
import { useTracker } from "../data/useLive.ts"
import { useRead } from "../data/useRead.ts"
import { WalletLink, When } from "../parts/Links.tsx"
import { Shown } from "../parts/States.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { useTitle } from "../parts/useTitle.ts"
import { ageWords } from "../parts/words.ts"
import { AddWallets } from "./AddWallets.tsx"
import { EditWallet, RemoveWallet } from "./EditWallet.tsx"
import { Groups } from "./Groups.tsx"
import { labelsOf, type Snapshot, type Wallet } from "./tracked.ts"
import { LiveState, TradeTable } from "./TradeTable.tsx"

const READ_MS = 10_000
/** Shortest time between two reads after balances changed. */
const SOON_MS = 2000

const stateWords = {
  live: "follows the chain",
  delayed: "is behind the chain",
  down: "receives nothing from the chain",
  idle: "has nothing to follow"
} as const

const StatusLine = ({ status }: { readonly status: Snapshot["status"] }) => (
  <p class="soft">
    {status.walletsTracked} of {status.walletLimit} wallets. The tracker {stateWords[status.state]}
    {status.ingestLagMs === null ? "" : `, ${ageWords(status.ingestLagMs)} after the newest block`}.
  </p>
)

type Opened = { readonly kind: "edit" | "remove"; readonly wallet: Wallet } | { readonly kind: "add" } | null

const columnsOf = (
  names: ReadonlyMap<string, string>,
  open: (opened: Opened) => void
): ReadonlyArray<Column<Wallet>> => [
  {
    name: "Wallet",
    cell: ({ emoji, label, wallet }) => (
      <WalletLink wallet={wallet} label={label}>
        {emoji !== null && <span aria-hidden="true">{emoji} </span>}
      </WalletLink>
    )
  },
  {
    name: "Groups",
    cell: ({ groups }) => (
      <span class="row">
        {groups.map((id) => (
          <bdi class="tag" key={id}>
            {names.get(id) ?? id}
          </bdi>
        ))}
      </span>
    )
  },
  { name: "State", cell: ({ status }) => (status === "live" ? "live" : "nothing seen yet") },
  { name: "Last seen", cell: ({ lastEventAtMs }) => <When atMs={lastEventAtMs} /> },
  { name: "Notes", cell: ({ notes }) => <bdi class="words">{notes}</bdi> },
  {
    name: "Actions",
    isUnnamed: true,
    cell: (wallet) => (
      <span class="row">
        <button
          type="button"
          aria-label={`Edit ${wallet.label ?? wallet.wallet}`}
          onClick={() => open({ kind: "edit", wallet })}
        >
          Edit
        </button>
        <button
          type="button"
          class="danger"
          aria-label={`Remove ${wallet.label ?? wallet.wallet}`}
          onClick={() => open({ kind: "remove", wallet })}
        >
          Remove
        </button>
      </span>
    )
  }
]

const Tracked = ({ again, snapshot }: { readonly snapshot: Snapshot; readonly again: () => void }) => {
  const { groups, status, wallets } = snapshot
  const [group, setGroup] = useState<string | null>(null)
  const [opened, open] = useState<Opened>(null)
  const live = useLiveTrades(null, wallets.length === 0 ? 0 : 1)
  const shown = group === null ? wallets : wallets.filter((wallet) => wallet.groups.includes(group))
  const labels = labelsOf(shown)
  const close = () => open(null)
  const done = () => {
    close()
    again()
  }
  return (
    <div class="stack">
      <section class="card">
        <div class="head">
          <h1>Tracker</h1>
          <button type="button" class="main" onClick={() => open({ kind: "add" })}>
            Track wallets
          </button>
        </div>
        <StatusLine status={status} />
        <Groups groups={groups} chosen={group} total={wallets.length} onChoose={setGroup} onChange={again} />
        <Table
          caption="Tracked wallets"
          columns={columnsOf(new Map(groups.map(({ groupId, name }) => [groupId, name])), open)}
          rows={shown}
          keyOf={({ wallet }) => wallet}
          empty={`${wallets.length === 0 ? "No wallet is tracked yet." : "No wallet is in this group."} Track one, and its trades appear below as they happen.`}
        />
      </section>
      <section class="card" aria-labelledby="live-trades">
        <div class="head">
          <h2 id="live-trades">Trades</h2>
          <LiveState state={live.state} gap={live.gap} />
        </div>
        <TradeTable
          trades={live.trades.filter(({ wallet }) => labels.has(wallet))}
          isLoading={live.isLoading}
          labels={labels}
        />
      </section>
      {opened?.kind === "add" && <AddWallets groups={groups} group={group} onClose={close} onDone={done} />}
      {opened?.kind === "edit" && <EditWallet wallet={opened.wallet} groups={groups} onClose={close} onDone={done} />}
      {opened?.kind === "remove" && <RemoveWallet wallet={opened.wallet} onClose={close} onDone={done} />}
    </div>
  )
}

/** The page of the tracker. */
export const Tracker = () => {
  useTitle("Tracker")
  const read = useRead("GET /api/v1/tracker/snapshot", {}, READ_MS)
  const readAtMs = useRef(0)
  useTracker(null, ({ type }) => {
    if (type === "balance_update" && Date.now() > readAtMs.current + SOON_MS) {
      readAtMs.current = Date.now()
      read.again()
    }
  })
  const shown = (
    <Shown read={read} what="tracked wallets" rows={8}>
      {(snapshot) => <Tracked snapshot={snapshot} again={read.again} />}
    </Shown>
  )
  return read.answer === null ? (
    <section class="card">
      <h1>Tracker</h1>
      {shown}
    </section>
  ) : (
    shown
  )
}
