import type { Page } from 'playwright-core';

const lateMs = 2_500;

/**
 * Has the pages that are opened from now on paint late, as on a busy machine: what they do once they have painted comes long
 * after the service has answered, and after people have pressed keys.
 */
export async function paintLate(page: Page): Promise<void> {
  await page.addInitScript(`{
    const { setTimeout: wait } = window;
    window.requestAnimationFrame = () => 0;
    // In place of a frame that does not come the library waits for some milliseconds.
    window.setTimeout = (act, ms = 0, ...rest) => wait(act, ms > 0 && ms < 50 ? ${lateMs} : ms, ...rest);
  }`);
}
