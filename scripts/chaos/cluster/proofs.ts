/** Properties that a fault shows while it is held, or once it is over, each as counts at the processes. */
import { Effect, Schedule } from "effect"
import { ask, at, sourceState } from "../repair/answers.ts"
import type { Scene } from "./scene.ts"

/**
 * The properties. `bus`: a full bus is `stale` at every process. `ended`: what has ended stays refused, and what has not is
 * accepted. `taken`: processes that were added answer requests.
 */
export const PROPERTIES = ["bus", "ended", "taken"] as const
export type Property = (typeof PROPERTIES)[number]

/** How often a property was looked for, and how often it held. */
export interface Proof {
  readonly property: Property
  readonly looked: number
  readonly held: number
}

/** True when the property held wherever it was looked for, and it was looked for. */
export const isHeld = ({ held, looked }: Proof): boolean => looked > 0 && held === looked

/** Times to look, a second apart. Followers call a bus stale after 30 s without a block. */
const LOOKS = 90

/** Looks at each item until it is decided, for 90 s at most. An item that is never decided (null) does not hold. */
const look = <Item>(property: Property, items: ReadonlyArray<Item>, holds: (item: Item) => Promise<boolean | null>) =>
  Effect.forEach(
    items,
    (item) =>
      Effect.repeat(
        Effect.promise(() => holds(item)),
        { until: (held) => held !== null, times: LOOKS, schedule: Schedule.spaced("1 second") }
      ),
    { concurrency: "unbounded" }
  ).pipe(Effect.map((found): Proof => ({ property, looked: items.length, held: found.filter(Boolean).length })))

/** Looks for a bus that every process calls `stale`. */
export const seeStaleBus = ({ running }: Scene): Effect.Effect<Proof> =>
  look(
    "bus",
    running,
    async ({ baseUrl }) => at(await sourceState({ baseUrl, secret: "" }, "bus"), "status") === "stale" || null
  )

/** Looks for an answer of every process of these places to a request through the balancer. */
export const seeTaken = ({ running, taken }: Scene, places: ReadonlyArray<number>): Effect.Effect<Proof> =>
  look("taken", places, async (place) => (taken.get(running[place]?.baseUrl ?? "") ?? 0) > 0 || null)

/** A secret, and whether every process has to accept it. */
export interface Credential {
  readonly secret: string
  readonly isAccepted: boolean
}

/** Statuses that decide about a secret. With any other one the process could not decide. */
const ACCEPTED = 200
const REFUSED = 401

/**
 * Looks at every process whether it accepts these secrets. The first decision counts. With `mayChange` a process may still hear
 * of a change, so only the right decision counts.
 */
export const seeDecisions = (
  { running }: { readonly running: ReadonlyArray<Pick<Scene["running"][number], "baseUrl">> },
  credentials: ReadonlyArray<Credential>,
  mayChange: boolean
): Effect.Effect<Proof> =>
  // The processes are those of the time at which it runs: one may be started anew before.
  Effect.suspend(() =>
    look(
      "ended",
      running.flatMap(({ baseUrl }) => credentials.map((each) => ({ ...each, baseUrl }))),
      async ({ baseUrl, isAccepted, secret }) => {
        const { status } = await ask({ baseUrl, secret }, { path: "/api/v1/account/key" })
        const isRight = status === (isAccepted ? ACCEPTED : REFUSED)
        return isRight || (!mayChange && (status === ACCEPTED || status === REFUSED) ? false : null)
      }
    )
  )
