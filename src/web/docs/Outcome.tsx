import { Facts } from "../parts/Facts.tsx"
import { timeText } from "../parts/words.ts"
import { type Attempt, pretty } from "./attempt.ts"

const isGood = (status: number): boolean => status < 400

/** The answer of an attempt: status, headers, and the body or the events of a stream. */
export const Outcome = ({
  of: { fault, headers, heard, isRunning, status, text, tookMs }
}: {
  readonly of: Attempt
}) => (
  <div class="outcome">
    <p role="status" class="row">
      {isRunning && status === null && "Waiting for the answer"}
      {status !== null && (
        <span class={`status ${isGood(status) ? "good" : "bad"}`}>
          {status} in {Math.round(tookMs ?? 0)} ms{isRunning ? ", open" : ""}
        </span>
      )}
      {fault}
    </p>
    {headers.length > 0 && <Facts isNarrow of={headers} />}
    {text !== "" && (
      <pre class="answer" tabIndex={0} role="region" aria-label="Answer">
        <code>{text}</code>
      </pre>
    )}
    {heard.length > 0 && (
      <ol class="heard" aria-live="off" aria-label="Events, newest first" tabIndex={0}>
        {heard.toReversed().map(({ atMs, name, text }) => (
          <li key={`${atMs} ${name} ${text.length}`}>
            <details>
              <summary>
                <code>{name}</code> <time dateTime={new Date(atMs).toISOString()}>{timeText(atMs)}</time>{" "}
                <span class="soft">{text.slice(0, 80)}</span>
              </summary>
              <pre tabIndex={0}>
                <code>{pretty(text)}</code>
              </pre>
            </details>
          </li>
        ))}
      </ol>
    )}
  </div>
)
