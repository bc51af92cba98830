/**
 * Runs PostgreSQL without privileges. It refuses to run as root, and `initdb` refuses a user without a passwd entry.
 * Containers often have one or the other.
 */
import { Effect } from "effect"
import { chownSync } from "node:fs"
import { userInfo } from "node:os"
import { type Command, run } from "./processes.ts"

const UNPRIVILEGED_ID = 65534

/** How to run the programs of one data folder. */
export interface Runner {
  /** Builds the command for a program that ends by itself. */
  readonly once: (file: string, args: ReadonlyArray<string>) => Command
  /** Builds the command for a server. It shuts down properly when this process dies, if the system supports that. */
  readonly server: (file: string, args: ReadonlyArray<string>) => Command
  /** Makes the programs' user the owner of a folder. */
  readonly own: (folder: string) => void
}

const hasPasswdEntry = (): boolean => {
  try {
    return userInfo().username !== ""
  } catch {
    return false
  }
}

const succeeds = (file: string, args: ReadonlyArray<string>) => Effect.isSuccess(run({ file, args }))

/**
 * Finds a way that works on this machine. In a user namespace without a mapping, programs run as uid 65534 while
 * files keep their owner. Where that is forbidden, as under Docker's default profile, root becomes uid 65534 for
 * good.
 */
export const findRunner: (options: { readonly namespaces: boolean }) => Effect.Effect<Runner> = Effect.fnUntraced(
  function* ({ namespaces }) {
    const isRoot = process.getuid?.() === 0
    const [canUnshare, canFollow] = yield* Effect.all(
      [succeeds("unshare", ["--user", "true"]), succeeds("setpriv", ["--pdeathsig", "INT", "true"])],
      { concurrency: "unbounded" }
    )
    const unshared = namespaces && canUnshare && (isRoot || !hasPasswdEntry())
    const ids = isRoot && !unshared ? { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID } : {}
    const enter = unshared ? ["unshare", "--user"] : []
    const follow = canFollow ? ["setpriv", "--pdeathsig", "INT"] : []

    const command = (line: ReadonlyArray<string>): Command => ({ file: line[0] ?? "", args: line.slice(1), ...ids })
    return {
      once: (file, args) => command([...enter, file, ...args]),
      server: (file, args) => command([...enter, ...follow, file, ...args]),
      own: (folder) => {
        if (ids.uid !== undefined) {
          chownSync(folder, ids.uid, ids.gid)
        }
      }
    }
  }
)
