// What the person says first and must never be lost.

export const rule = 'Never edit anything under src/generated: a tool writes those files.'
