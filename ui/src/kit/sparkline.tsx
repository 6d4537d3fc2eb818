interface SparklineProps {
  /** What it shows, for screen readers. */
  readonly label: string
  /** Numbers over time, oldest first. */
  readonly values: readonly number[]
}

const HEIGHT = 20

/** Small bars without a scale: where in time something happened, not how often. */
export function Sparkline({ label, values }: SparklineProps) {
  const most = Math.max(1, ...values)
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${values.length * 4} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      {values.map((value, index) => {
        const height = value === 0 ? 1 : Math.max(3, (value / most) * HEIGHT)
        const isNone = value === 0
        return (
          <rect
            key={index}
            class={isNone ? 'none' : undefined}
            x={index * 4}
            y={HEIGHT - height}
            width={3}
            height={height}
          />
        )
      })}
    </svg>
  )
}
