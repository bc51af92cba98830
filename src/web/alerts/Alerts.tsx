/** Alerts of the account and their firings. */
import { useRoute } from "preact-iso"
import { useState } from "preact/hooks"
import { call } from "../data/request.ts"
import { type Pages, usePages } from "../data/usePages.ts"
import { type Action, useAction } from "../data/useAction.ts"
import { useLateBlocks, useProgress } from "../data/useProgress.ts"
import { TokenLink, WalletLink, When } from "../parts/Links.tsx"
import { PagedTable } from "../parts/More.tsx"
import { Reading } from "../parts/Reading.tsx"
import { Failed } from "../parts/States.tsx"
import type { Column } from "../parts/Table.tsx"
import { useTitle } from "../parts/useTitle.ts"
import { ageWords, timeText } from "../parts/words.ts"
import { EditAlert, RemoveAlert } from "./ChangeAlert.tsx"
import { Firings } from "./Firings.tsx"
import { NewAlert } from "./NewAlert.tsx"
import { type Alert, conditionWords, valueWords } from "../parts/conditions.ts"

const READ_MS = 5000

type Opened = { readonly kind: "edit" | "remove"; readonly alert: Alert } | { readonly kind: "new" } | null

/** How many trades did not fire the alert, in words. */
const tradeWords = ({ leftOut, unvalued }: NonNullable<Alert["trades"]>): string =>
  [
    "watches trades",
    ...(leftOut > 0 ? [`${leftOut} did not fire`] : []),
    ...(unvalued > 0 ? [`${unvalued} with unknown value`] : [])
  ].join(", ")

/** The state of an alert in words. */
const stateWords = ({ armed, recurrence, status, trades }: Alert): string => {
  switch (status) {
    case "active":
      return trades !== null ? tradeWords(trades) : armed ? "armed" : "waits for the value to cross back"
    case "paused":
      return "paused"
    case "inactive":
      return "inactive: the wallet is not tracked"
    case "triggered":
      return recurrence === "once" ? "fired, finished" : "fired"
    case "expired":
      return "expired"
  }
}

const Value = ({ alert: { condition, evaluation } }: { readonly alert: Alert }) => (
  <data
    value={evaluation.value ?? ""}
    title={evaluation.observedAtMs === null ? evaluation.state : `seen ${timeText(evaluation.observedAtMs)}`}
  >
    {valueWords(condition.metric, evaluation.value)}
    {evaluation.state !== "ok" && <span class="warn"> {evaluation.state}</span>}
  </data>
)

const Actions = ({
  alert,
  open,
  setStatus,
  toggle
}: {
  readonly alert: Alert
  readonly open: (opened: Opened) => void
  readonly toggle: Action
  readonly setStatus: (alert: Alert, status: "active" | "paused") => void
}) => {
  const name = conditionWords(alert.condition)
  const isLive = alert.status !== "triggered" && alert.status !== "expired"
  const next = alert.status === "paused" ? "active" : "paused"
  return (
    <span class="row">
      {isLive && (
        <>
          <button
            type="button"
            disabled={toggle.isBusy}
            aria-label={`${next === "paused" ? "Pause" : "Resume"}: ${name}`}
            onClick={() => setStatus(alert, next)}
          >
            {next === "paused" ? "Pause" : "Resume"}
          </button>
          <button type="button" aria-label={`Edit: ${name}`} onClick={() => open({ kind: "edit", alert })}>
            Edit
          </button>
        </>
      )}
      <button
        type="button"
        class="danger"
        aria-label={`Remove: ${name}`}
        onClick={() => open({ kind: "remove", alert })}
      >
        Remove
      </button>
    </span>
  )
}

const columns: ReadonlyArray<Column<Alert>> = [
  { name: "Token", cell: ({ mint }) => (mint === null ? "any" : <TokenLink mint={mint} />) },
  {
    name: "Condition",
    isWords: true,
    cell: ({ condition, note, side, wallet }) => (
      <>
        {conditionWords(condition)}
        {wallet !== null && (
          <div class="soft">
            {side === "either" ? "buys and sells" : `${side}s`} of <WalletLink wallet={wallet} />
          </div>
        )}
        {note !== null && (
          <div class="soft">
            <bdi class="words">{note}</bdi>
          </div>
        )}
      </>
    )
  },
  { name: "Now", isNumber: true, cell: (alert) => <Value alert={alert} /> },
  { name: "State", isWords: true, cell: stateWords },
  { name: "Fires", cell: ({ recurrence }) => (recurrence === "once" ? "once" : "repeatedly") },
  { name: "Fired", isNumber: true, cell: ({ triggerCount }) => triggerCount },
  { name: "Last", cell: ({ lastTriggeredAtMs }) => <When atMs={lastTriggeredAtMs} /> },
  { name: "Expires", cell: ({ expiresAtMs }) => (expiresAtMs === null ? "never" : timeText(expiresAtMs)) }
]

const List = ({ open, pages }: { readonly pages: Pages<Alert>; readonly open: (opened: Opened) => void }) => {
  const toggle = useAction()
  const setStatus = (alert: Alert, status: "active" | "paused") =>
    toggle.run(() => call("PATCH /api/v1/alerts/:id", { path: { id: alert.id }, body: { status } }), pages.again)
  const actions: Column<Alert> = {
    name: "Actions",
    isUnnamed: true,
    cell: (alert) => <Actions alert={alert} open={open} toggle={toggle} setStatus={setStatus} />
  }
  return (
    <>
      {toggle.failure !== null && <Failed failure={toggle.failure} />}
      <PagedTable
        pages={pages}
        what="alerts"
        height={4}
        caption="Alerts, newest first"
        columns={[...columns, actions]}
        keyOf={({ id }) => id}
        empty="No alerts yet. An alert watches the price, the market cap or a change of a token, or the trades of a wallet."
      />
    </>
  )
}

/** Says why alerts compare old values, while they do. */
const Late = () => {
  const progress = useProgress()
  const late = useLateBlocks()
  if (progress !== null || late === null) {
    return <Reading meanwhile="alerts on trades compare old values, or wait" />
  }
  return (
    <p class="note">
      {late.lagMs === null
        ? "No block has been read yet. Alerts on trades wait for the first one."
        : `The newest block is ${ageWords(late.lagMs)} old. Alerts on trades compare old values, or wait until newer blocks arrive.`}
    </p>
  )
}

/** The page of alerts. `?mint=` opens the form of a new alert for that token. */
export const Alerts = () => {
  useTitle("Alerts")
  const { mint = "" } = useRoute().query
  const [opened, open] = useState<Opened>(mint === "" ? null : { kind: "new" })
  const pages = usePages(
    "alerts",
    (cursor, signal) => call("GET /api/v1/alerts", { query: { cursor, limit: 100 }, signal }),
    ({ id }) => id,
    READ_MS
  )
  const close = () => open(null)
  const done = () => {
    close()
    pages.again()
  }
  return (
    <div class="stack">
      <section class="card">
        <div class="head">
          <h1>Alerts</h1>
          <button type="button" class="main" onClick={() => open({ kind: "new" })}>
            New alert
          </button>
        </div>
        <Late />
        <List pages={pages} open={open} />
      </section>
      {/* Below the alerts, whose number is unknown until they are read: it would move. */}
      {(pages.read.answer !== null || pages.read.failure !== null) && <Firings />}
      {opened?.kind === "new" && <NewAlert mint={mint} onClose={close} onDone={done} />}
      {opened?.kind === "edit" && <EditAlert alert={opened.alert} onClose={close} onDone={done} />}
      {opened?.kind === "remove" && <RemoveAlert alert={opened.alert} onClose={close} onDone={done} />}
    </div>
  )
}
