/** Alerts of the account on one token that can still fire. */
import type { Alert } from "../parts/conditions.ts"
import { useRead } from "../data/useRead.ts"

const EVERY_MS = 20_000

export const useAlerts = (mint: string): { readonly alerts: ReadonlyArray<Alert>; readonly again: () => void } => {
  const { again, answer } = useRead("GET /api/v1/alerts", { query: { mint, limit: 50 } }, EVERY_MS)
  const alerts = (answer?.data ?? []).filter(({ status }) => status === "active" || status === "paused")
  return { alerts, again }
}
