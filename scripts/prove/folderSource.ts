/** Programs and pools from files: PROGRAM_ID.so, and fixtures of `npm run exactness`. */
import { existsSync, globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { readFixture } from "../../src/quotes/execution/poolFixture.ts"
import { programOf } from "../../src/quotes/execution/deployment.ts"
import type { PoolSnapshot } from "../../src/quotes/execution/poolSnapshot.ts"
import { fillIn } from "./fillIn.ts"
import type { ProofSource } from "./sources.ts"

/** The pools of the fixtures in `accounts`, and the programs in `programs`. */
export const folderSource = (programs: string, accounts: string): ProofSource => ({
  program: async (programId) => {
    const path = join(programs, `${programId}.so`)
    if (!existsSync(path)) {
      throw new Error(`no ${path}`)
    }
    return programOf(readFileSync(path))
  },
  pools: async (venue, count) => {
    const { program } = venue
    const found: Array<PoolSnapshot> = []
    for (const path of globSync(join(accounts, "*.json")).toSorted()) {
      if (found.length >= count) {
        break
      }
      const fixture = readFixture(path)
      for (const pool of fixture.accounts.values()) {
        if (program.isPool(pool) && found.length < count) {
          found.push(fillIn(venue, pool, fixture))
        }
      }
    }
    return found
  }
})
