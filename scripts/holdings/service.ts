/** Calls of a running service with one key. */

/** A service under check: its address and the secret of a key that may read and write the tracker. */
export interface Caller {
  readonly api: string
  readonly key: string
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Answers that ask for another attempt: a budget that is spent, and a dependency that is missing. */
const AGAIN: ReadonlySet<number> = new Set([429, 503])
const MOST_ATTEMPTS = 60

/** Sends a request, again as long as the service asks for that; throws on any other failure. */
export const request = async (
  { api, key }: Caller,
  path: string,
  payload?: object,
  method = payload === undefined ? "GET" : "POST"
): Promise<unknown> => {
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(api + path, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(payload !== undefined && { "content-type": "application/json" }) },
      ...(payload !== undefined && { body: JSON.stringify(payload) })
    })
    const text = await response.text()
    if (response.ok) {
      return JSON.parse(text)
    }
    if (!AGAIN.has(response.status) || attempt === MOST_ATTEMPTS) {
      throw new Error(`${path}: ${response.status} ${text}`)
    }
    await pause(Number(response.headers.get("retry-after") ?? "1") * 1000)
  }
}

/** `data` of an answer. */
export const dataOf = async (caller: Caller, path: string): Promise<unknown> => {
  const answer = (await request(caller, path)) as { readonly data: unknown }
  return answer.data
}

interface TrackedList {
  readonly wallets: ReadonlyArray<{ readonly wallet: string; readonly addedAtMs: number }>
}

const SECOND_MS = 1000

/** The wallets that the account tracks, each with the second since which its figures count, in milliseconds. */
export const trackedSince = async (caller: Caller): Promise<ReadonlyMap<string, number>> => {
  const { wallets } = (await request(caller, "/api/v1/tracker/wallets")) as TrackedList
  return new Map(
    wallets.map(({ addedAtMs, wallet }) => [wallet, Math.floor(addedAtMs / SECOND_MS) * SECOND_MS] as const)
  )
}

const IN_BATCH = 100

/** Has the account track these wallets beside those that it has. */
export const track = async (caller: Caller, wallets: ReadonlyArray<string>): Promise<void> => {
  for (let from = 0; from < wallets.length; from += IN_BATCH) {
    const some = wallets.slice(from, from + IN_BATCH).map((wallet) => ({ wallet }))
    await request(caller, "/api/v1/tracker/wallets/batch", { wallets: some })
  }
}

/** Has the account track these wallets no more. */
export const untrack = async (caller: Caller, wallets: ReadonlyArray<string>): Promise<void> => {
  for (const wallet of wallets) {
    await request(caller, `/api/v1/tracker/wallets/${wallet}`, undefined, "DELETE")
  }
}
