import { Field } from '../kit/elements.tsx'
import { timeOf, zoneOf } from '../kit/now.tsx'
import { setQuery } from '../kit/route.ts'

const DAY_MS = 86_400_000
const DAYS = ['1d', '7d', '30d']
const FIRST_DATE = '2000-01-01'

/**
 * Returns the last time at which letters of an age failed: `7d` is seven days before `now`, and a date is the start of that
 * day in the reader's zone. `NaN`, which the API refuses, for anything else.
 */
export function boundOf(age: string, now: number): number {
  const days = daysOf(age)
  if (days !== undefined) return now - days * DAY_MS
  return isDate(age) ? new Date(`${age}T00:00`).getTime() - 1 : Number.NaN
}

/** Describes an age as it continues "Failed": `over 7 days ago`, with its time limit if given. */
export function describeAge(age: string, failedBy?: number): string {
  const days = daysOf(age)
  const text = days === undefined ? `before ${age}` : `over ${days === 1 ? '1 day' : `${days} days`} ago`
  if (failedBy === undefined || Number.isNaN(failedBy)) return text
  const date = new Date(failedBy)
  return `${text} (by ${timeOf(date)} ${zoneOf(date)})`
}

/** Selects letters by the time since they failed. */
export function Age({ label, age }: { readonly label: string; readonly age: string }) {
  const choices = age === '' || isDate(age) || DAYS.includes(age) ? DAYS : [...DAYS, age]
  return (
    <>
      <Field label={label}>
        <select
          name="age"
          value={isDate(age) ? DATE : age}
          onChange={({ currentTarget: { value } }) => setQuery({ age: value === DATE ? today() : value })}
        >
          <option value="">at any time</option>
          {choices.map(choice => (
            <option key={choice} value={choice}>
              {describeAge(choice)}
            </option>
          ))}
          <option value={DATE}>before a date</option>
        </select>
      </Field>
      {isDate(age) && (
        <Field label="Failed before">
          <input
            type="date"
            name="date"
            value={age}
            min={FIRST_DATE}
            required
            // While a year is typed, the field has dates such as 0002-11-20.
            onChange={({ currentTarget }) =>
              currentTarget.checkValidity() && setQuery({ age: currentTarget.value })
            }
          />
        </Field>
      )}
    </>
  )
}

const DATE = 'date'

function today(): string {
  return timeOf(new Date()).slice(0, 10)
}

function daysOf(age: string): number | undefined {
  const days = /^([1-9]\d{0,3})d$/.exec(age)?.[1]
  return days === undefined ? undefined : Number(days)
}

function isDate(age: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(age)
}
