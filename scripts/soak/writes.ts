/** Writers that keep a number of wallets and alerts, and the record of what was acknowledged. */
import { randomBytes } from "node:crypto"
import { addressFromBytes } from "../../src/domain/Address.ts"
import { at } from "../chaos/repair/answers.ts"
import type { Caller, Stopping } from "./sockets.ts"

/** Wallets, and alerts, that a writer keeps; older ones are removed. */
const KEPT = 20
const PAUSE_MS = 150

/** Ids by what was acknowledged last. An id whose last write was not answered is in neither. */
export interface Written {
  readonly present: Set<string>
  readonly removed: Set<string>
  acknowledged: number
}

export const nothingWritten = (): Written => ({ present: new Set(), removed: new Set(), acknowledged: 0 })

/** Answers of writes by status, and those that are neither a success, nor a refusal for a while. */
export interface WriteAnswers {
  readonly statuses: Record<string, number>
  readonly unexpected: Array<string>
}

const send = async (
  answers: WriteAnswers,
  { baseUrl, secret }: Caller,
  method: string,
  path: string,
  body?: object
) => {
  let status = "no answer"
  let content: unknown = null
  try {
    const response = await fetch(baseUrl + path, {
      method,
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000)
    })
    const text = await response.text()
    status = String(response.status)
    content = text === "" ? null : JSON.parse(text)
  } catch (cause) {
    content = String(cause)
  }
  answers.statuses[status] = (answers.statuses[status] ?? 0) + 1
  const isGood = ["200", "201", "204"].includes(status)
  if (!isGood && status !== "503" && status !== "429" && answers.unexpected.length < 5) {
    answers.unexpected.push(`${method} ${path} ${status} ${JSON.stringify(content).slice(0, 200)}`)
  }
  return isGood ? { content } : null
}

const added = (written: Written, id: unknown) => {
  if (typeof id === "string") {
    written.acknowledged++
    written.present.add(id)
  }
}

/** Removes the oldest one above the number that is kept. */
const trim = async (written: Written, mine: Array<string>, remove: (id: string) => Promise<object | null>) => {
  const oldest = mine.length > KEPT ? mine.shift() : undefined
  if (oldest !== undefined) {
    written.present.delete(oldest)
    if ((await remove(oldest)) !== null) {
      written.acknowledged++
      written.removed.add(oldest)
    }
  }
}

/** Writes wallets and alerts of an account in turn. */
export const writeOn = async (
  caller: Caller,
  mint: string,
  written: { readonly wallets: Written; readonly alerts: Written },
  answers: WriteAnswers,
  stopping: Stopping
) => {
  const wallets: Array<string> = []
  const alerts: Array<string> = []
  const condition = { metric: "price_usd", operator: "crosses_above", threshold: "1000000" }
  while (!stopping.isStopping) {
    const wallet = addressFromBytes(randomBytes(32))
    const tracked = await send(answers, caller, "POST", "/api/v1/tracker/wallets", { wallet })
    if (tracked !== null) {
      added(written.wallets, wallet)
      wallets.push(wallet)
    }
    const created = await send(answers, caller, "POST", "/api/v1/alerts", { mint, condition })
    const id = at(created?.content, "data", "id")
    if (typeof id === "string") {
      added(written.alerts, id)
      alerts.push(id)
    }
    await trim(written.wallets, wallets, (each) => send(answers, caller, "DELETE", `/api/v1/tracker/wallets/${each}`))
    await trim(written.alerts, alerts, (each) => send(answers, caller, "DELETE", `/api/v1/alerts/${each}`))
    await new Promise((resume) => setTimeout(resume, PAUSE_MS))
  }
}
