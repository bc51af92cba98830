/** A row of buttons. One of them is chosen. */
export const Choice = <T extends string>({
  label,
  onChange,
  options,
  value
}: {
  readonly label: string
  readonly options: ReadonlyArray<readonly [T, string]>
  readonly value: T
  readonly onChange: (value: T) => void
}) => (
  <div class="choice" role="group" aria-label={label}>
    {options.map(([option, text]) => (
      <button key={option} type="button" aria-pressed={option === value} onClick={() => onChange(option)}>
        {text}
      </button>
    ))}
  </div>
)
