import { Breadcrumb, BreadcrumbItem, PageSection } from "@patternfly/react-core";
import { useEffect } from "react";
import type { Key } from "../api/types";
import { Link, paths } from "../router";

/** The breadcrumb of a view. It also sets the title of the tab. */
export function Crumbs({ of, here }: { of?: Key | undefined; here: string }) {
  const title = of ? `${here} ${of.name}` : here;
  useEffect(() => {
    document.title = `${title} · Darkrooms`;
    return () => {
      document.title = "Darkrooms";
    };
  }, [title]);
  const to = (path: string, name: string) => <BreadcrumbItem render={({ className }) => <Link to={path} className={className}>{name}</Link>} />;
  return (
    <PageSection type="breadcrumb">
      <Breadcrumb aria-label="Breadcrumb">
        {to(paths.list, "Darkrooms")}
        {of && to(paths.detail(of), of.name)}
        <BreadcrumbItem isActive>{here}</BreadcrumbItem>
      </Breadcrumb>
    </PageSection>
  );
}
