/** Cases that a framework makes impossible, with the reason. */
export const DECLARED: Readonly<Record<string, Readonly<Record<string, string>>>> = {}
