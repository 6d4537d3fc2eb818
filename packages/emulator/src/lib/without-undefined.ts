type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

/** Removes members that are `undefined`. */
export function withoutUndefined<T extends object>(value: T): Defined<T> {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as Defined<T>
}
