import { useState } from "preact/hooks"
import { useSession } from "../data/session.tsx"
import { useReading } from "../data/useRead.ts"
import { AuditLog } from "./AuditLog.tsx"
import { Keys } from "./Keys.tsx"
import { readKeys } from "./keys.ts"
import { Usage } from "./Usage.tsx"
import { useTitle } from "../parts/useTitle.ts"
import "../style/developer.css"

const Sessions = () => {
  const { signOut } = useSession()
  return (
    <section class="stack" aria-labelledby="sessions">
      <h2 id="sessions">Sessions</h2>
      <p class="soft">Ends every session of this account, in every browser. Keys keep working.</p>
      <p>
        <button type="button" onClick={() => signOut(true)}>
          Sign out everywhere
        </button>
      </p>
    </section>
  )
}

const Managed = () => {
  const keys = useReading("keys", readKeys)
  const [version, setVersion] = useState(0)
  const known = keys.answer?.data ?? []
  const changed = () => {
    setVersion((before) => before + 1)
    keys.again()
  }
  return (
    <div class="stack developer">
      <Keys read={keys} onChange={changed} />
      <Usage keys={known} />
      <AuditLog keys={known} version={version} />
      <Sessions />
    </div>
  )
}

/** The keys of the account with their usage and changes, and the sessions of the account. */
export const Developer = () => {
  useTitle("Developer API")
  const { state } = useSession()
  return (
    <>
      <h1>Developer API</h1>
      {state === "in" ? (
        <Managed />
      ) : (
        <p>
          <a href="/sign-in">Sign in</a> to create keys for your programs.
        </p>
      )}
    </>
  )
}
