type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

/** What is there and `undefined` counts as left out. */
export function withoutUndefined<T extends object>(value: T): Defined<T> {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as Defined<T>
}
