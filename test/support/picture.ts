import { expect } from 'chai';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

/** Where the pictures of the documentation are. */
export const images = fileURLToPath(new URL('../../docs/images', import.meta.url));
/** Bytes of a picture at most. */
export const pictureBytes = 60_000;

const qualities = [90, 80, 70, 60, 50];

/** Takes a picture of what the page shows, as good as it can be within its bytes. */
export async function takePicture(page: Page, name: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  for (const quality of qualities) {
    const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality });
    const bytes = Buffer.from(data, 'base64');
    if (bytes.length > pictureBytes) continue;
    mkdirSync(images, { recursive: true });
    writeFileSync(join(images, `${name}.webp`), bytes);
    await session.detach();
    return;
  }
  expect.fail(`The picture ${name} has more than ${pictureBytes} bytes`);
}
