import { useEffect, useRef } from "preact/hooks"
import { CopyText } from "../parts/CopyText.tsx"
import type { NewKey } from "./keys.ts"

/** The secret of a new key, shown only once, with a request that uses it. */
export const SecretShown = ({
  made: { key, secret },
  onDone
}: {
  readonly made: NewKey
  readonly onDone: () => void
}) => {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  const lines = [
    `export KEY=${secret}`,
    `curl "${globalThis.location.origin}/api/v1/account/key" -H "Authorization: Bearer $KEY"`
  ].join("\n")
  return (
    <section class="card secret" aria-labelledby="secret">
      <h2 id="secret" tabIndex={-1} ref={heading}>
        The secret of <bdi>{key.name}</bdi>
      </h2>
      <p>It is shown only this once. Keep it where only your programs can read it.</p>
      <pre tabIndex={0} role="region" aria-label="Secret">
        <code>{secret}</code>
      </pre>
      <CopyText text={secret} what="the secret" />
      <p>
        Try it in a terminal. The examples of the reference use <code>$KEY</code> too:
      </p>
      <pre tabIndex={0} role="region" aria-label="Request with the secret">
        <code>{lines}</code>
      </pre>
      <CopyText text={lines} what="the request" />
      <p class="row">
        <button type="button" class="main" onClick={onDone}>
          I have saved it
        </button>
        <a href="/docs">To the reference</a>
      </p>
    </section>
  )
}
